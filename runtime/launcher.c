/* Calls of compiled kernels and checks of inputs, from Python with no argument parsing.
 *
 * Built once per machine, as C. Tensors are reached through libtorch's C functions (aoti_torch_*),
 * whose addresses `setup` receives; a Python tensor's handle is the field behind its object head.
 * When `setup` is told not to trust that field (`offset` < 0) data pointers come from the method
 * `data_ptr`, and Checker and Out are refused. All functions are to be called under the GIL.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>

typedef int (*kernel_fn)(void *const *, const long long *);
typedef int32_t (*get_ptr_fn)(void *, void **);
typedef int32_t (*get_i32_fn)(void *, int32_t *);
typedef int32_t (*get_i64_fn)(void *, int64_t *);
typedef int32_t (*get_list_fn)(void *, int64_t **);
typedef int32_t (*out_fn)(void *, void *, void *, void *, double, double);

enum { MAX_STACK = 64, MAX_OUT_TENSORS = 4 };

static struct {
    Py_ssize_t offset; /* bytes from the object to its tensor handle; < 0: use data_ptr() */
    PyTypeObject *tensor;
    PyObject *data_ptr_name;
    get_ptr_fn data_ptr;
    get_i32_fn dtype, device_type, device_index;
    get_i64_fn dim;
    get_list_fn sizes, strides;
} rt = {-1};

static void *handle_of(PyObject *o) { return (char *)o + rt.offset; }

static int is_tensor(PyObject *o) {
    if (PyObject_TypeCheck(o, rt.tensor)) return 1;
    PyErr_Format(PyExc_TypeError, "expected a tensor, got %.100s", Py_TYPE(o)->tp_name);
    return 0;
}

static int pointer_of(PyObject *o, void **out) {
    if (!is_tensor(o)) return -1;
    if (rt.offset >= 0) {
        if (rt.data_ptr(handle_of(o), out) == 0) return 0;
        PyErr_SetString(PyExc_RuntimeError, "a tensor without memory was passed to a kernel");
        return -1;
    }
    PyObject *p = PyObject_CallMethodNoArgs(o, rt.data_ptr_name);
    if (!p) return -1;
    *out = PyLong_AsVoidPtr(p);
    Py_DECREF(p);
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- Kernel: one entry point of a loaded library ---- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    kernel_fn fn;
    Py_ssize_t pointers, sizes;
    PyObject *name, *library;
} Kernel;

static void index_fault(PyObject *name) {
    PyObject *errors = PyImport_ImportModule("minductor.dialects.faults");
    PyObject *kind = errors ? PyObject_GetAttrString(errors, "IndexFault") : NULL;
    if (kind) PyErr_Format(kind, "index out of range in kernel %U", name);
    Py_XDECREF(kind);
    Py_XDECREF(errors);
}

static PyObject *kernel_fault(Kernel *self, int code) {
    if (code & 1)
        index_fault(self->name);
    else if (code == 2)
        PyErr_Format(PyExc_RuntimeError, "ZeroDivisionError: integer division by zero in kernel %U",
                     self->name);
    else
        PyErr_Format(PyExc_RuntimeError, "kernel %U failed with code %d", self->name, code);
    return NULL;
}

static int kernel_run(Kernel *self, PyObject *const *args, void **ptrs, long long *sizes) {
    for (Py_ssize_t i = 0; i < self->pointers; i++)
        if (pointer_of(args[i], &ptrs[i]) < 0) return -1;
    for (Py_ssize_t i = 0; i < self->sizes; i++) {
        sizes[i] = PyLong_AsLongLong(args[self->pointers + i]);
        if (sizes[i] == -1 && PyErr_Occurred()) return -1;
    }
    int code;
    Py_BEGIN_ALLOW_THREADS
    code = self->fn(ptrs, sizes);
    Py_END_ALLOW_THREADS
    if (code) {
        kernel_fault(self, code);
        return -1;
    }
    return 0;
}

static PyObject *kernel_call(PyObject *o, PyObject *const *args, size_t nargsf, PyObject *kw) {
    Kernel *self = (Kernel *)o;
    Py_ssize_t n = PyVectorcall_NARGS(nargsf), want = self->pointers + self->sizes;
    if (n != want || (kw && PyTuple_GET_SIZE(kw)))
        return PyErr_Format(PyExc_TypeError, "kernel %U takes %zd tensors and %zd sizes, got %zd "
                            "arguments", self->name, self->pointers, self->sizes, n);
    int failed;
    if (want <= MAX_STACK) {
        void *ptrs[MAX_STACK];
        long long sizes[MAX_STACK];
        failed = kernel_run(self, args, ptrs, sizes);
    } else {
        char *mem = PyMem_Malloc((size_t)want * 8);
        if (!mem) return PyErr_NoMemory();
        failed = kernel_run(self, args, (void **)mem, (long long *)mem + self->pointers);
        PyMem_Free(mem);
    }
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
    Py_ssize_t pointers, sizes;
    PyObject *address, *name, *library;
    if (!PyArg_ParseTuple(args, "OnnUO", &address, &pointers, &sizes, &name, &library)) return NULL;
    void *fn = PyLong_AsVoidPtr(address);
    if (PyErr_Occurred()) return NULL;
    if (!fn || pointers < 0 || sizes < 0 || !rt.tensor) {
        PyErr_SetString(PyExc_ValueError, "bad kernel address or counts, or setup() not done");
        return NULL;
    }
    Kernel *self = (Kernel *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->call = kernel_call;
    self->fn = (kernel_fn)fn;
    self->pointers = pointers;
    self->sizes = sizes;
    self->name = Py_NewRef(name);
    self->library = Py_NewRef(library);
    return (PyObject *)self;
}

static void kernel_free(PyObject *o) {
    Py_XDECREF(((Kernel *)o)->name);
    Py_XDECREF(((Kernel *)o)->library);
    Py_TYPE(o)->tp_free(o);
}

static PyObject *kernel_repr(PyObject *o) {
    return PyUnicode_FromFormat("<kernel %U>", ((Kernel *)o)->name);
}

static PyTypeObject KernelType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "minductor_launcher.Kernel",
    .tp_doc = "Kernel(address, pointers, sizes, name, library): call it with tensors, then ints.",
    .tp_basicsize = sizeof(Kernel),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Kernel, call),
    .tp_call = PyVectorcall_Call,
    .tp_new = kernel_new,
    .tp_dealloc = kernel_free,
    .tp_repr = kernel_repr,
};

/* ---- Checker: layouts of all inputs of a graph, in one call ---- */

typedef struct {
    int32_t dtype, device_type, device_index;
    int64_t dim;
    Py_ssize_t first; /* of 2 * dim numbers in `numbers`: sizes, then strides */
} Layout;

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    Py_ssize_t tensors, values;
    Layout *layouts;
    int64_t *numbers; /* >= 0: the number; < 0: the value with index -1 - number */
    PyObject *report; /* report(position, tensor, values): raises, or returns a replacement */
} Checker;

static int64_t resolve(int64_t n, const int64_t *values) { return n >= 0 ? n : values[-1 - n]; }

static int layout_holds(const Checker *c, const Layout *l, void *h, const int64_t *values) {
    int32_t v;
    int64_t dim, *sizes, *strides;
    if (rt.dtype(h, &v) || v != l->dtype) return 0;
    if (rt.device_type(h, &v) || v != l->device_type) return 0;
    if (l->device_index >= 0 && (rt.device_index(h, &v) || v != l->device_index)) return 0;
    if (rt.dim(h, &dim) || dim != l->dim) return 0;
    if (rt.sizes(h, &sizes) || rt.strides(h, &strides)) return 0;
    const int64_t *want = c->numbers + l->first;
    int empty = 0;
    for (int64_t i = 0; i < dim; i++) {
        if (sizes[i] != resolve(want[i], values)) return 0;
        empty |= sizes[i] == 0;
    }
    if (empty) return 1;
    for (int64_t i = 0; i < dim; i++)
        if (sizes[i] > 1 && strides[i] != resolve(want[dim + i], values)) return 0;
    void *memory; /* fake tensors and zero tensors have none */
    return rt.data_ptr(h, &memory) == 0 && memory;
}

static PyObject *checker_call(PyObject *o, PyObject *const *args, size_t nargsf, PyObject *kw) {
    Checker *self = (Checker *)o;
    Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    int64_t values[MAX_STACK];
    if (n != self->tensors + self->values || (kw && PyTuple_GET_SIZE(kw)))
        return PyErr_Format(PyExc_TypeError, "the input check takes %zd tensors and %zd sizes, got "
                            "%zd arguments", self->tensors, self->values, n);
    for (Py_ssize_t i = 0; i < self->values; i++) {
        values[i] = PyLong_AsLongLong(args[self->tensors + i]);
        if (values[i] == -1 && PyErr_Occurred()) return NULL;
    }
    for (Py_ssize_t i = 0; i < self->tensors; i++) {
        if (PyObject_TypeCheck(args[i], rt.tensor) &&
            layout_holds(self, &self->layouts[i], handle_of(args[i]), values)) continue;
        PyObject *given = PyTuple_New(self->values);
        if (!given) return NULL;
        for (Py_ssize_t k = 0; k < self->values; k++)
            PyTuple_SET_ITEM(given, k, Py_NewRef(args[self->tensors + k]));
        PyObject *r = PyObject_CallFunction(self->report, "nOO", i, args[i], given);
        Py_DECREF(given);
        if (!r || self->tensors == 1) return r;
        Py_DECREF(r);
    }
    if (self->tensors == 1) return Py_NewRef(args[0]);
    Py_RETURN_NONE;
}

static void checker_free(PyObject *o) {
    Checker *self = (Checker *)o;
    PyMem_Free(self->layouts);
    PyMem_Free(self->numbers);
    Py_XDECREF(self->report);
    Py_TYPE(o)->tp_free(o);
}

static int checker_fill(Checker *self, PyObject *layouts, PyObject *numbers) {
    Py_ssize_t count = PyTuple_GET_SIZE(numbers);
    self->tensors = PyTuple_GET_SIZE(layouts);
    self->layouts = PyMem_Calloc((size_t)self->tensors + 1, sizeof(Layout));
    self->numbers = PyMem_Calloc((size_t)count + 1, sizeof(int64_t));
    if (!self->layouts || !self->numbers) return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        self->numbers[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(numbers, i));
        if (PyErr_Occurred()) return -1;
        if (self->numbers[i] < -self->values) return -1;
    }
    for (Py_ssize_t i = 0; i < self->tensors; i++) {
        Layout *l = &self->layouts[i];
        long long dim;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(layouts, i), "iiiLn", &l->dtype, &l->device_type,
                              &l->device_index, &dim, &l->first)) return -1;
        l->dim = dim;
        if (dim < 0 || l->first < 0 || l->first + 2 * dim > count) return -1;
    }
    return 0;
}

static PyObject *checker_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
    PyObject *layouts, *numbers, *report;
    Py_ssize_t values;
    if (!PyArg_ParseTuple(args, "O!O!nO", &PyTuple_Type, &layouts, &PyTuple_Type, &numbers, &values,
                          &report)) return NULL;
    Checker *self = (Checker *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->call = checker_call;
    self->values = values;
    self->report = Py_NewRef(report);
    if (rt.offset < 0 || values < 0 || values > MAX_STACK || checker_fill(self, layouts, numbers)) {
        Py_DECREF(self);
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "bad description of inputs");
        return NULL;
    }
    return (PyObject *)self;
}

static PyTypeObject CheckerType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "minductor_launcher.Checker",
    .tp_doc = "Checker(layouts, numbers, values, report): call it with tensors, then ints. Of one\n"
              "tensor it returns the tensor, or what report returned for it.",
    .tp_basicsize = sizeof(Checker),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Checker, call),
    .tp_call = PyVectorcall_Call,
    .tp_new = checker_new,
    .tp_dealloc = checker_free,
};

/* ---- Out: a C function of libtorch that writes its first tensor (mm, addmm, bmm, ...) ----
 * Integer and floating arguments travel in different registers on the ABIs we run on (SysV x86-64,
 * AAPCS64), so one prototype serves every mix of at most 4 handles and 2 doubles. These functions
 * skip torch's dispatcher, hence autograd, autocast and lazy conjugation.
 */

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    out_fn fn;
    Py_ssize_t tensors;
    double scalars[2];
    PyObject *fallback; /* same arguments; repeats a failed call for torch's own message */
} Out;

static PyObject *out_call(PyObject *o, PyObject *const *args, size_t nargsf, PyObject *kw) {
    Out *self = (Out *)o;
    Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    void *h[MAX_OUT_TENSORS] = {0};
    if (n != self->tensors || (kw && PyTuple_GET_SIZE(kw)))
        return PyErr_Format(PyExc_TypeError, "takes %zd tensors, got %zd", self->tensors, n);
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!is_tensor(args[i])) return NULL;
        h[i] = handle_of(args[i]);
    }
    int32_t failed, dtype;
    if (rt.dtype(h[0], &dtype) || !(dtype == 6 || dtype == 15 || dtype == 7 || dtype == 5))
        /* only f32, bf16, f64, f16: complex has lazy conjugation, ints refuse float scalars */
        return PyObject_Vectorcall(self->fallback, args, (size_t)n, NULL);
    Py_BEGIN_ALLOW_THREADS
    failed = self->fn(h[0], h[1], h[2], h[3], self->scalars[0], self->scalars[1]);
    Py_END_ALLOW_THREADS
    if (failed) return PyObject_Vectorcall(self->fallback, args, (size_t)n, NULL);
    Py_RETURN_NONE;
}

static PyObject *out_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
    PyObject *address, *fallback;
    Py_ssize_t tensors;
    double a, b;
    if (!PyArg_ParseTuple(args, "OnddO", &address, &tensors, &a, &b, &fallback)) return NULL;
    void *fn = PyLong_AsVoidPtr(address);
    if (PyErr_Occurred()) return NULL;
    if (!fn || tensors < 1 || tensors > MAX_OUT_TENSORS || rt.offset < 0) {
        PyErr_SetString(PyExc_ValueError, "bad address or tensor count, or no handles");
        return NULL;
    }
    Out *self = (Out *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->call = out_call;
    self->fn = (out_fn)fn;
    self->tensors = tensors;
    self->scalars[0] = a;
    self->scalars[1] = b;
    self->fallback = Py_NewRef(fallback);
    return (PyObject *)self;
}

static void out_free(PyObject *o) {
    Py_XDECREF(((Out *)o)->fallback);
    Py_TYPE(o)->tp_free(o);
}

static PyTypeObject OutType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "minductor_launcher.Out",
    .tp_doc = "Out(address, tensors, scalar, scalar, fallback): call it with out and tensors.",
    .tp_basicsize = sizeof(Out),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Out, call),
    .tp_call = PyVectorcall_Call,
    .tp_new = out_new,
    .tp_dealloc = out_free,
};

#include "launcher_device.h"
#include "launcher_pool.h"

/* ---- module ---- */

static PyObject *trusted(PyObject *module, PyObject *unused) {
    return PyBool_FromLong(rt.offset >= 0);
}

static PyObject *pointer(PyObject *module, PyObject *tensor) {
    void *p;
    if (pointer_of(tensor, &p) < 0) return NULL;
    return PyLong_FromVoidPtr(p);
}

/* setup(offset, TensorBase, addresses by name) */
static PyObject *setup(PyObject *module, PyObject *args) {
    Py_ssize_t offset;
    PyObject *tensor, *table;
    if (!PyArg_ParseTuple(args, "nO!O!", &offset, &PyType_Type, &tensor, &PyDict_Type, &table))
        return NULL;
    const struct { const char *name; void **slot; } slots[] = {
        {"data_ptr", (void **)&rt.data_ptr}, {"dtype", (void **)&rt.dtype},
        {"device_type", (void **)&rt.device_type}, {"device_index", (void **)&rt.device_index},
        {"dim", (void **)&rt.dim}, {"sizes", (void **)&rt.sizes}, {"strides", (void **)&rt.strides}};
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        PyObject *v = PyDict_GetItemString(table, slots[i].name);
        *slots[i].slot = v ? PyLong_AsVoidPtr(v) : NULL;
        if (PyErr_Occurred()) return NULL;
        if (offset >= 0 && !*slots[i].slot)
            return PyErr_Format(PyExc_ValueError, "no address of %s", slots[i].name);
    }
    Py_XSETREF(rt.tensor, (PyTypeObject *)Py_NewRef(tensor));
    rt.offset = offset;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"setup", setup, METH_VARARGS, "setup(offset, TensorBase, addresses)"},
    {"trusted", trusted, METH_NOARGS, "trusted(): tensor handles may be used."},
    {"pointer", pointer, METH_O, "pointer(tensor): address of its first element."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "minductor_launcher", "Kernel calls for minductor.", -1, methods};

PyMODINIT_FUNC PyInit_minductor_launcher(void) {
    rt.data_ptr_name = PyUnicode_InternFromString("data_ptr");
    if (!rt.data_ptr_name || PyType_Ready(&KernelType) < 0 || PyType_Ready(&CheckerType) < 0 ||
        PyType_Ready(&OutType) < 0 || PyType_Ready(&DeviceType) < 0 || PyType_Ready(&PoolType) < 0)
        return NULL;
    PyObject *m = PyModule_Create(&definition);
    if (!m) return NULL;
    if (PyModule_AddObjectRef(m, "Kernel", (PyObject *)&KernelType) < 0 ||
        PyModule_AddObjectRef(m, "Checker", (PyObject *)&CheckerType) < 0 ||
        PyModule_AddObjectRef(m, "Out", (PyObject *)&OutType) < 0 ||
        PyModule_AddObjectRef(m, "Device", (PyObject *)&DeviceType) < 0 ||
        PyModule_AddObjectRef(m, "Pool", (PyObject *)&PoolType) < 0) {
        Py_DECREF(m);
        return NULL;
    }
    return m;
}
