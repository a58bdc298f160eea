/* ---- Pool: large buffers between uses (runtime/pool.py says what for) ----
 * A tensor on a block is made through DLPack, whose deleter brings the block back from any thread,
 * with or without the GIL. Blocks that are used again soon stay as they are; a thread of ours tells
 * the system of those that lie idle, and ends when nothing happens any more.
 */
#include <pthread.h>
#include <signal.h>
#include <structmember.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MAX_DIM = 24, MAX_DTYPES = 32, WATCH_STACK = 1 << 17 };

typedef struct Managed { /* DLManagedTensor of DLPack before 1.0 */
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
    void *manager;
    void (*deleter)(struct Managed *);
} Managed;

typedef struct Block {
    Managed managed; /* first: the deleter gets the block's address */
    int64_t numbers[2 * MAX_DIM];
    struct Blocks *home;
    size_t bytes;
    int64_t since; /* when it came back, in ns */
    int yielded;   /* the system may take its pages */
    struct Block *next;
} Block;

typedef struct Blocks { /* lives as long as its pool, its last tensor and its thread */
    pthread_mutex_t lock;
    Block *free; /* newest first */
    long long limit, idle;
    size_t kept;
    long refs, uses;
    int huge;
    pid_t watched; /* the process whose thread looks after idle blocks, or 0 */
} Blocks;

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void unmap_all(Block *b) {
    while (b) {
        Block *next = b->next;
        munmap(b->managed.data, b->bytes);
        free(b);
        b = next;
    }
}

static void yield_pages(Blocks *p, Block *b) {
#ifdef MADV_FREE
    if (p->huge && !b->yielded) madvise(b->managed.data, b->bytes, MADV_FREE);
#endif
    b->yielded = 1;
}

/* Blocks beyond the limit, the oldest, cut off the list. */
static Block *overfull(Blocks *p) {
    size_t kept = 0;
    for (Block **at = &p->free; *at; at = &(*at)->next)
        if ((kept += (*at)->bytes) > (size_t)p->limit) {
            Block *rest = *at;
            *at = NULL;
            p->kept = kept - rest->bytes;
            return rest;
        }
    return NULL;
}

static void drop(Blocks *p) { /* with the lock held, which it gives back */
    Block *rest = NULL;
    int last = --p->refs == 0;
    if (last) rest = p->free;
    pthread_mutex_unlock(&p->lock);
    if (!last) return;
    unmap_all(rest);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static void block_back(Managed *m) {
    Block *b = (Block *)m, *rest = NULL;
    Blocks *p = b->home;
    pthread_mutex_lock(&p->lock);
    b->since = now();
    b->yielded = 0;
    if (p->watched != getpid()) yield_pages(p, b);
    b->next = p->free;
    p->free = b;
    p->kept += b->bytes;
    if (p->kept > (size_t)p->limit) rest = overfull(p);
    drop(p);
    unmap_all(rest);
}

/* Yields what has lain idle; ends when all of it has and nobody asked for memory in between. */
static void *watch(void *state) {
    Blocks *p = state;
    long uses = -1;
    for (;;) {
        struct timespec t = {p->idle / 1000000000, p->idle % 1000000000};
        nanosleep(&t, NULL);
        pthread_mutex_lock(&p->lock);
        int waits = 0;
        int64_t before = now() - p->idle;
        for (Block *b = p->free; b; b = b->next)
            if (b->since <= before) yield_pages(p, b);
            else waits |= !b->yielded;
        if (p->refs == 1 || (!waits && uses == p->uses)) break;
        uses = p->uses;
        pthread_mutex_unlock(&p->lock);
    }
    p->watched = 0;
    drop(p);
    return NULL;
}

static void start_watch(Blocks *p) { /* with the lock held */
    pthread_t thread;
    pthread_attr_t how;
    sigset_t all, before;
    if (pthread_attr_init(&how)) return;
    pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&how, WATCH_STACK);
    sigfillset(&all); /* signals are for Python's threads */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (pthread_create(&thread, &how, watch, p) == 0) {
        p->watched = getpid();
        p->refs++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&how);
}

/* The newest of the smallest free blocks that fit without much waste, else a new one, or NULL. */
static Block *block_take(Blocks *p, size_t bytes) {
    Block **best = NULL, *b, *rest = NULL;
    pthread_mutex_lock(&p->lock);
    p->uses++;
    p->refs++;
    if (p->huge && p->limit && p->watched != getpid()) start_watch(p);
    for (Block **at = &p->free; *at; at = &(*at)->next)
        if ((*at)->bytes >= bytes && (*at)->bytes <= bytes + bytes / 4 &&
            (!best || (*at)->bytes < (*best)->bytes)) best = at;
    if (best) {
        b = *best;
        *best = b->next;
        p->kept -= b->bytes;
        pthread_mutex_unlock(&p->lock);
        return b;
    }
    pthread_mutex_unlock(&p->lock);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED) { /* no room: what waits for its next use makes some */
        pthread_mutex_lock(&p->lock);
        rest = p->free;
        p->free = NULL;
        p->kept = 0;
        pthread_mutex_unlock(&p->lock);
        unmap_all(rest);
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    }
    b = memory == MAP_FAILED ? NULL : calloc(1, sizeof *b);
    if (!b) {
        if (memory != MAP_FAILED) munmap(memory, bytes);
        pthread_mutex_lock(&p->lock);
        drop(p);
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    if (p->huge) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    b->bytes = bytes;
    b->home = p;
    b->managed = (Managed){.data = memory, .device_type = 1, .lanes = 1, .deleter = block_back};
    b->managed.shape = b->numbers;
    return b;
}

typedef struct {
    PyObject_HEAD
    Blocks *blocks;
    long long least, round;
    PyObject *dtypes[MAX_DTYPES], *from_dlpack, *other;
    uint8_t code[MAX_DTYPES], bits[MAX_DTYPES];
    int count;
} Pool;

static int numbers_of(PyObject *tuple, int64_t *out) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++)
        if ((out[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i))) < 0) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a negative size or stride");
            return -1;
        }
    return 0;
}

static PyObject *tensor_on(Pool *self, Block *b) {
    PyObject *capsule = PyCapsule_New(&b->managed, "dltensor", NULL), *tensor = NULL;
    if (capsule) tensor = PyObject_CallOneArg(self->from_dlpack, capsule);
    if (!tensor && !(capsule && PyCapsule_IsValid(capsule, "used_dltensor"))) block_back(&b->managed);
    Py_XDECREF(capsule);
    return tensor;
}

static PyObject *pool_empty(PyObject *o, PyObject *const *args, Py_ssize_t n) {
    Pool *self = (Pool *)o;
    int64_t numbers[2 * MAX_DIM], last = 0;
    int dtype = 0;
    if (n != 3 || !PyTuple_Check(args[0]) || !PyTuple_Check(args[1]))
        return PyErr_Format(PyExc_TypeError, "empty takes a tuple of sizes, one of strides, a dtype");
    Py_ssize_t dim = PyTuple_GET_SIZE(args[0]);
    while (dtype < self->count && self->dtypes[dtype] != args[2]) dtype++;
    if (dtype == self->count || dim > MAX_DIM || PyTuple_GET_SIZE(args[1]) != dim)
        return PyObject_Vectorcall(self->other, args, 3, NULL);
    if (numbers_of(args[0], numbers) || numbers_of(args[1], numbers + dim)) return NULL;
    int empty = 0;
    for (Py_ssize_t i = 0; i < dim; i++) {
        empty |= numbers[i] == 0;
        last += (numbers[i] - 1) * numbers[dim + i];
    }
    int64_t bytes = (last + 1) * (self->bits[dtype] / 8);
    if (empty || bytes < self->least) return PyObject_Vectorcall(self->other, args, 3, NULL);
    Block *b = block_take(self->blocks, (size_t)((bytes + self->round - 1) / self->round * self->round));
    if (!b) return PyErr_NoMemory();
    memcpy(b->numbers, numbers, sizeof(int64_t) * 2 * (size_t)dim);
    b->managed.strides = b->numbers + dim;
    b->managed.ndim = (int32_t)dim;
    b->managed.code = self->code[dtype];
    b->managed.bits = self->bits[dtype];
    return tensor_on(self, b);
}

static PyObject *pool_free_bytes(PyObject *o, PyObject *unused) {
    Blocks *p = ((Pool *)o)->blocks;
    pthread_mutex_lock(&p->lock);
    size_t kept = p->kept;
    pthread_mutex_unlock(&p->lock);
    return PyLong_FromSize_t(kept);
}

static PyObject *pool_yielded_bytes(PyObject *o, PyObject *unused) {
    Blocks *p = ((Pool *)o)->blocks;
    size_t bytes = 0;
    pthread_mutex_lock(&p->lock);
    for (Block *b = p->free; b; b = b->next) bytes += b->yielded ? b->bytes : 0;
    pthread_mutex_unlock(&p->lock);
    return PyLong_FromSize_t(bytes);
}

static PyObject *pool_release(PyObject *o, PyObject *unused) {
    Blocks *p = ((Pool *)o)->blocks;
    pthread_mutex_lock(&p->lock);
    Block *rest = p->free;
    p->free = NULL;
    p->kept = 0;
    pthread_mutex_unlock(&p->lock);
    unmap_all(rest);
    Py_RETURN_NONE;
}

static PyObject *pool_limit(PyObject *o, void *unused) {
    return PyLong_FromLongLong(((Pool *)o)->blocks->limit);
}

/* Pool(limit, least, round, idle seconds, huge, from_dlpack, other, {dtype: (code, bits)}) */
static PyObject *pool_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
    PyObject *from_dlpack, *other, *table, *key, *value;
    Py_ssize_t at = 0;
    long long limit, least, round;
    double idle;
    int huge;
    if (!PyArg_ParseTuple(args, "LLLdpOOO!", &limit, &least, &round, &idle, &huge, &from_dlpack,
                          &other, &PyDict_Type, &table)) return NULL;
    if (limit < 0 || round < 1 || PyDict_GET_SIZE(table) > MAX_DTYPES)
        return PyErr_Format(PyExc_ValueError, "a negative limit, or too many dtypes");
    Pool *self = (Pool *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->from_dlpack = Py_NewRef(from_dlpack);
    self->other = Py_NewRef(other);
    self->least = least;
    self->round = round;
    while (PyDict_Next(table, &at, &key, &value)) {
        int i = self->count++;
        self->dtypes[i] = Py_NewRef(key);
        if (!PyArg_ParseTuple(value, "bb", &self->code[i], &self->bits[i])) break;
    }
    Blocks *p = PyErr_Occurred() ? NULL : calloc(1, sizeof *p);
    if (!p) {
        Py_DECREF(self);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    pthread_mutex_init(&p->lock, NULL);
    p->limit = limit;
    p->idle = (long long)(idle * 1e9);
    p->huge = huge;
    p->refs = 1;
    self->blocks = p;
    return (PyObject *)self;
}

static void pool_free(PyObject *o) {
    Pool *self = (Pool *)o;
    if (self->blocks) {
        pthread_mutex_lock(&self->blocks->lock);
        self->blocks->limit = 0; /* what is still out is given up when it comes back */
        Block *rest = overfull(self->blocks);
        drop(self->blocks);
        unmap_all(rest);
    }
    for (int i = 0; i < self->count; i++) Py_XDECREF(self->dtypes[i]);
    Py_XDECREF(self->from_dlpack);
    Py_XDECREF(self->other);
    Py_TYPE(o)->tp_free(o);
}

static PyMethodDef pool_methods[] = {
    {"empty", (PyCFunction)(void (*)(void))pool_empty, METH_FASTCALL,
     "empty(sizes, strides, dtype): an uninitialised CPU tensor."},
    {"free_bytes", pool_free_bytes, METH_NOARGS, "Bytes that wait for their next use."},
    {"yielded_bytes", pool_yielded_bytes, METH_NOARGS, "Of them, those the system may take."},
    {"release", pool_release, METH_NOARGS, "Give all memory that waits back to the system."},
    {NULL, NULL, 0, NULL}};
static PyMemberDef pool_members[] = {
    {"least", T_LONGLONG, offsetof(Pool, least), 0, "Bytes below which a tensor is torch's."},
    {NULL}};
static PyGetSetDef pool_getset[] = {{"limit", pool_limit, NULL, "Bytes kept at most.", NULL}, {NULL}};

static PyTypeObject PoolType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "minductor_launcher.Pool",
    .tp_doc = "Pool(limit, least, round, idle, huge, from_dlpack, other, dtypes): large buffers.",
    .tp_basicsize = sizeof(Pool),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = pool_methods,
    .tp_members = pool_members,
    .tp_getset = pool_getset,
    .tp_new = pool_new,
    .tp_dealloc = pool_free,
};
