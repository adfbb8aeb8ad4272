/* The interpreter inside the single executable: CPython, told to take its modules from the zip in descriptor ARCHIVE.
 *
 * It looks at no PYTHON* variable, no site-packages and no home directory of the machine.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/prctl.h>

#include "layout.h" /* ARCHIVE */

enum { DESCRIPTORS = 16 }; /* ARCHIVE and those after it that the launcher may have left open */

#define STRING(text) #text
#define NUMBER(macro) STRING(macro)
static const wchar_t archive[] = L"/proc/self/fd/" NUMBER(ARCHIVE);

static PyObject *load(PyObject *module, PyObject *argument) {
    const char *path = PyUnicode_AsUTF8(argument);
    if (!path) return NULL;
    if (!dlopen(path, RTLD_NOW | RTLD_GLOBAL)) {
        PyErr_SetString(PyExc_ImportError, dlerror());
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"load", load, METH_O, "Load the shared library at a path for those that are loaded later."},
    {NULL, NULL, 0, NULL},
};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "discern_libraries", NULL, -1, functions};
static PyObject *libraries_module(void) { return PyModule_Create(&definition); }

static void check(PyStatus status) {
    if (PyStatus_Exception(status)) Py_ExitStatusException(status);
}

static void set(PyConfig *config, wchar_t **field, const wchar_t *value) {
    check(PyConfig_SetString(config, field, value));
}

int main(int argc, char **argv) {
    prctl(PR_SET_NAME, "discern");
    for (int descriptor = ARCHIVE; descriptor < ARCHIVE + DESCRIPTORS; descriptor++)
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);

    PyPreConfig first;
    PyPreConfig_InitPythonConfig(&first);
    first.parse_argv = first.use_environment = 0;
    check(Py_PreInitialize(&first));
    PyImport_AppendInittab("discern_libraries", libraries_module);

    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    config.parse_argv = config.use_environment = config.site_import = config.user_site_directory = 0;
    config.safe_path = config.module_search_paths_set = 1;
    check(PyConfig_SetBytesArgv(&config, argc, argv));
    check(PyConfig_SetBytesString(&config, &config.executable, argv[0]));
    set(&config, &config.program_name, config.executable);
    set(&config, &config.prefix, archive);
    set(&config, &config.exec_prefix, archive);
    set(&config, &config.base_prefix, archive);
    set(&config, &config.base_exec_prefix, archive);
    set(&config, &config.base_executable, config.executable);
    set(&config, &config.platlibdir, L"lib");
    check(PyWideStringList_Append(&config.module_search_paths, archive));
    set(&config, &config.run_command, L"import discern_start; discern_start.run()");
    check(Py_InitializeFromConfig(&config));
    PyConfig_Clear(&config);
    return Py_RunMain();
}
