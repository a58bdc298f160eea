/* Device: a compiled GPU kernel, launched by cuLaunchKernel on torch's current stream.
 *
 * Part of launcher.c, which defines `rt` and `pointer_of`. Parameters stand as Triton lays them
 * out: pointers, sizes, then scratch pointers (null: kernels that need scratch are launched by
 * Triton itself). A pointer that the kernel was compiled to find on a multiple of 16 bytes and that
 * is not sends the call to `fallback`, which takes the same arguments.
 */

typedef int32_t (*stream_fn)(int32_t, void **);
typedef int (*device_fn)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, void *, void **, void **);

enum { MAX_DEVICE = 256 };

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    void *function;
    device_fn launch;
    stream_fn stream;
    int device;
    unsigned threads, shared;
    Py_ssize_t pointers, sizes, spare; /* spare: trailing parameters that are null */
    PyObject *grid;                    /* a tuple of three ints, or a callable of the sizes */
    PyObject *aligned;                 /* bytes: a flag per pointer */
    PyObject *fallback;
    PyObject *name, *owner;
} Device;

static int device_grid(Device *self, PyObject *const *sizes, unsigned *out) {
    PyObject *grid = PyTuple_Check(self->grid)
                         ? Py_NewRef(self->grid)
                         : PyObject_Vectorcall(self->grid, sizes, (size_t)self->sizes, NULL);
    if (!grid) return -1;
    int ok = PyTuple_Check(grid) && PyTuple_GET_SIZE(grid) == 3;
    for (int i = 0; ok && i < 3; i++) {
        unsigned long n = PyLong_AsUnsignedLong(PyTuple_GET_ITEM(grid, i));
        ok = !PyErr_Occurred() && n <= 0x7fffffff;
        out[i] = (unsigned)n;
    }
    Py_DECREF(grid);
    if (!ok && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "the grid of kernel %U is not three ints", self->name);
    return ok ? 0 : -1;
}

static PyObject *device_call(PyObject *o, PyObject *const *args, size_t nargsf, PyObject *kw) {
    Device *self = (Device *)o;
    Py_ssize_t n = PyVectorcall_NARGS(nargsf), count = self->pointers + self->sizes;
    unsigned g[3];
    if (n != count || (kw && PyTuple_GET_SIZE(kw)))
        return PyErr_Format(PyExc_TypeError, "kernel %U takes %zd tensors and %zd sizes, got %zd "
                            "arguments", self->name, self->pointers, self->sizes, n);
    if (device_grid(self, args + self->pointers, g) < 0) return NULL;
    if (!g[0] || !g[1] || !g[2]) Py_RETURN_NONE;
    int64_t values[MAX_DEVICE]; /* little endian: an i32 parameter reads the low half */
    void *params[MAX_DEVICE], *stream = NULL;
    for (Py_ssize_t i = 0; i < count + self->spare; i++) {
        params[i] = &values[i];
        values[i] = 0;
        if (i < self->pointers && pointer_of(args[i], (void **)&values[i]) < 0) return NULL;
        if (i >= self->pointers && i < n) values[i] = PyLong_AsLongLong(args[i]);
        if (values[i] == -1 && PyErr_Occurred()) return NULL;
        if (i < self->pointers && (values[i] & 15) && PyBytes_AS_STRING(self->aligned)[i])
            return PyObject_Vectorcall(self->fallback, args, (size_t)n, NULL);
    }
    if (self->stream(self->device, &stream))
        return PyErr_Format(PyExc_RuntimeError, "no CUDA stream for kernel %U", self->name);
    int code = self->launch(self->function, g[0], g[1], g[2], self->threads, 1, 1, self->shared,
                            stream, params, NULL);
    if (code)
        return PyErr_Format(PyExc_RuntimeError, "CUDA error %d at the launch of kernel %U", code,
                            self->name);
    Py_RETURN_NONE;
}

static PyObject *device_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
    unsigned long long function, launch, stream;
    Py_ssize_t pointers, sizes, spare;
    int device;
    unsigned threads, shared;
    PyObject *grid, *aligned, *fallback, *name, *owner;
    if (!PyArg_ParseTuple(args, "KKKiIInnnOSOUO", &function, &launch, &stream, &device, &threads,
                          &shared, &pointers, &sizes, &spare, &grid, &aligned, &fallback, &name,
                          &owner)) return NULL;
    if (PyBytes_GET_SIZE(aligned) != pointers || pointers < 0 || sizes < 0 || spare < 0 ||
        !function || !launch || !stream || pointers + sizes + spare > MAX_DEVICE || !rt.tensor) {
        PyErr_SetString(PyExc_ValueError, "bad addresses or counts, or setup() not done");
        return NULL;
    }
    Device *self = (Device *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->call = device_call;
    self->function = (void *)(uintptr_t)function;
    self->launch = (device_fn)(uintptr_t)launch;
    self->stream = (stream_fn)(uintptr_t)stream;
    self->device = device;
    self->threads = threads;
    self->shared = shared;
    self->pointers = pointers;
    self->sizes = sizes;
    self->spare = spare;
    self->grid = Py_NewRef(grid);
    self->aligned = Py_NewRef(aligned);
    self->fallback = Py_NewRef(fallback);
    self->name = Py_NewRef(name);
    self->owner = Py_NewRef(owner);
    return (PyObject *)self;
}

static void device_free(PyObject *o) {
    Device *self = (Device *)o;
    Py_XDECREF(self->grid);
    Py_XDECREF(self->aligned);
    Py_XDECREF(self->fallback);
    Py_XDECREF(self->name);
    Py_XDECREF(self->owner);
    Py_TYPE(o)->tp_free(o);
}

static PyTypeObject DeviceType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "minductor_launcher.Device",
    .tp_doc = "Device(function, cuLaunchKernel, stream, device, threads, shared, pointers, sizes,\n"
              "spare, grid, aligned, fallback, name, owner): call it with tensors, then ints.",
    .tp_basicsize = sizeof(Device),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Device, call),
    .tp_call = PyVectorcall_Call,
    .tp_new = device_new,
    .tp_dealloc = device_free,
};
