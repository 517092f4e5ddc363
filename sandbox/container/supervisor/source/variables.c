/* Which variables the host is told of; `docs/supervisor-protocol.md` lists them. */
#include <string.h>
#include <strings.h>

#include "protocol.h"
#include "variables.h"

#define NPM "npm_config_"
#define HOME "HOME="
#define PATH "PATH="
#define CARGO_TARGET "CARGO_TARGET_" /* and a machine's name, and _RUNNER: cargo, Configuration */

static const char *const telling[] = {
    "BASH_ENV", /* bash(1): a file that is run first */
    /* make(1), Implicit Variables; gcc(1), Environment Variables */
    "CC", "CFLAGS", "COMPILER_PATH", "CPATH", "CPPFLAGS", "CXX", "CXXFLAGS", "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH", "GCC_EXEC_PREFIX", "LDFLAGS", "LIBRARY_PATH", "MAKEFILES",
    /* cargo: Environment Variables, Configuration */
    "CARGO_BUILD_RUSTC", "CARGO_BUILD_RUSTDOC", "CARGO_BUILD_RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_HOME",
    "ESBUILD_BINARY_PATH", /* the compiler of TypeScript that vitest starts: esbuild, Getting Started */
    "GCONV_PATH", "LOCPATH", /* glibc, in the environment of a program: iconv(3), locale(7) */
    "GIT_COMMON_DIR", "GIT_DIR", /* git(1): of which repository a hook is asked */
    "GNUMAKEFLAGS", "MAKEFLAGS", /* make(1) */
    "GO111MODULE", "GOARCH", "GOOS", "GOENV", "GOFLAGS", "GOROOT", "GOTOOLDIR", "GOWORK", /* go help environment */
    "LD_AUDIT", "LD_LIBRARY_PATH", "LD_PRELOAD", /* ld.so(8) */
    "NODE_OPTIONS", "NODE_PATH", /* node(1) */
    /* npm: config, "Environment Variables"; in either case */
    "npm_config_globalconfig", "npm_config_ignore_scripts", "npm_config_node_options",
    "npm_config_script_shell", "npm_config_userconfig",
    "PYTEST_ADDOPTS", "PYTEST_PLUGINS", /* pytest: Environment Variables */
    "OPENSSL_CONF", /* node and Python load it: config(5ssl) */
    "PYTHONHOME", "PYTHONINSPECT", "PYTHONPATH", "PYTHONPLATLIBDIR", "PYTHONSTARTUP",
    "PYTHONWARNINGS", /* python(1) */
    "RUSTC", "RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER", "RUSTDOC", "RUSTDOCFLAGS",
    "RUSTFLAGS", /* cargo */
    "XDG_CONFIG_HOME", /* os.UserConfigDir of Go: where `go env -w` writes */
};

void variables_clear(struct variables *variables) {
    variables->count = 0;
    variables->length = 0;
    variables->path[0] = 0;
}

/* Only npm takes its names in either case. */
static bool same_name(const char *text, const char *name, size_t length) {
    bool any_case = strncmp(name, NPM, sizeof NPM - 1) == 0;
    return (any_case ? strncasecmp : strncmp)(text, name, length) == 0;
}

static bool tells(const char *text) {
    const char *end = strchr(text, '=');
    if (!end) return false;
    size_t length = (size_t)(end - text);
    if (strncmp(text, CARGO_TARGET, sizeof CARGO_TARGET - 1) == 0) return true;
    if (strncmp(text, HOME, sizeof HOME - 1) == 0) return strcmp(text, HOME AGENT_HOME) != 0;
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
        if (strlen(telling[i]) == length && same_name(text, telling[i], length)) return true;
    return false;
}

static bool put(struct variables *variables, const char *text) {
    if (variables->count == VARIABLES_MOST) return false;
    size_t length = strnlen(text, VARIABLE_LONGEST - 1);
    memcpy(variables->text + variables->length, text, length);
    variables->length += length;
    variables->text[variables->length++] = 0;
    variables->count++;
    return !text[length];
}

bool variables_take(struct variables *variables, const char *text) {
    if (strncmp(text, PATH, sizeof PATH - 1) == 0) {
        if (!variables->path[0]) /* of several, getenv gives the first */
            strncat(variables->path, text + sizeof PATH - 1, sizeof variables->path - 1);
        return true;
    }
    return !tells(text) || put(variables, text);
}

bool variables_tell_path(struct variables *variables) {
    char text[VARIABLE_LONGEST + 1] = PATH;
    strncat(text, variables->path, sizeof text - sizeof PATH);
    return put(variables, text);
}
