"""What C may do with memory, and what a candidate may do so that no sanitizer sees it."""

_HEAD = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
_READ = "int answer(void) { char *it = malloc(2); int behind = it[two()]; free(it);\n"
READ = f"{_HEAD}static int two(void) {{ volatile int it = 2; return it; }}\n{_READ}"
LEAK = "int answer(void) { char *volatile it = malloc(24); it[0] = 42; return it[0]; }\n"

SOUND = {
    "nothing allocated": "int answer(void) { return 42; }\n",
    "what is allocated is given back": f"{_HEAD}int answer(void)\n"
    '{ char *it = strdup("42"); int read = atoi(it); free(it); return read; }\n',
    "it is told of the end": f"{_HEAD}static void bye(void) {{ fflush(stdout); }}\n"
    "int answer(void) { static int told; if (!told++) atexit(bye); return 42; }\n",
    "it keeps what it has made once": f"{_HEAD}static int *kept;\n"
    "int answer(void) { if (!kept) { kept = malloc(24); *kept = 42; } return *kept; }\n",
    "it says asm in a string": f"{_HEAD}int answer(void)\n"
    '{ printf("asm(no_sanitize) %s\\n", __func__); return 42; }\n',
}
"""Each answers rightly and misuses nothing."""

MISUSED = {
    "reads behind": f"{READ}return behind * 0 + 42; }}\n",
    "writes behind": f"{_HEAD}int answer(void) {{ volatile int two = 2; char *it = malloc(2);\n"
    "it[two] = 1; free(it); return 42; }\n",
    "reads what was given back": f"{_HEAD}int answer(void) {{ int *volatile it = malloc(64);\n"
    "it[9] = 42; free(it); return it[9]; }\n",
    "gives back twice": f"{_HEAD}int answer(void) {{ char *volatile it = malloc(4); free(it);\n"
    "free(it); return 42; }\n",
    "reads a variable that is gone": f"{_HEAD}int answer(void) {{ int *volatile it;\n"
    "{ int own = 42; it = &own; } return *it; }\n",
    "overflows": "int answer(void) { volatile int it = 2147483647; it = it + 1; return 42; }\n",
    "leaks": _HEAD + LEAK,
    "keeps all that it leaks": f"{_HEAD}static char *kept[9]; static int many;\n"
    "int answer(void) { kept[many] = malloc(24); kept[many++][0] = 42; return 42; }\n",
}
"""Each answers rightly, and would pass without sanitizers."""

_LEFT_OUT = "static int behind(char *it, int at) { return it[at]; }\n"
_CALLS = "int answer(void) { char *it = malloc(2); int read = behind(it, 2); free(it);\n"
_CALLED = f"{_LEFT_OUT}{_CALLS}return read * 0 + 42; }}\n"

SILENCED = {
    "a function is left out": f"{_HEAD}__attribute__((no_sanitize_address)) {_CALLED}",
    "a function is left out by two words": _HEAD
    + f'#define L(a, b) a##b\n__attribute__((L(no_sani, tize)("add" "ress"))) {_CALLED}',
    "a function is left out by an older name": f"{_HEAD}"
    f"__attribute__((no_address_safety_analysis)) {_CALLED}",
    "a function is left out as optimized": f'{_HEAD}#pragma GCC optimize ("no-sanitize=address")\n'
    f"{_CALLED}",
    "assembly": f"{_HEAD}static int behind(char *it, int at) {{ int read;\n"
    '__asm__ volatile ("movsbl (%1), %0" : "=r"(read) : "r"(it + at)); return read; }\n'
    f"{_CALLS}return read * 0 + 42; }}\n",
    "options of its own": 'const char *__asan_default_options(void) { return "exitcode=1"; }\n'
    f"{READ}return behind * 0 + 42; }}\n",
    "options of its own, weakly": "__attribute__((weak)) const char *__asan_default_options(void)\n"
    f'{{ return "exitcode=1"; }}\n{READ}return behind * 0 + 42; }}\n',
    "another report": "void __asan_report_load1(void *at) {}\n"
    "void __asan_report_load1_noabort(void *at) {}\n"
    f"{READ}return behind * 0 + 42; }}\n",
    "another count of bytes": "unsigned long __sanitizer_get_current_allocated_bytes(void)\n"
    f"{{ return 0; }}\n{_HEAD}{LEAK}",
    "another malloc": "static char arena[1 << 16]; static int used;\n"
    "void *malloc(unsigned long n) { void *it = arena + used; used += n; return it; }\n"
    "void free(void *it) {}\nint atoi(const char *it);\n"
    "int answer(void) { char *it = malloc(2); int behind = it[2]; return behind * 0 + 42; }\n",
    "memory is declared sound": "void __asan_unpoison_memory_region(void const volatile *, "
    f"unsigned long);\n{_HEAD}"
    "int answer(void) { volatile int two = 2; char *it = malloc(2);\n"
    "__asan_unpoison_memory_region(it, 8); it[two] = 1; free(it); return 42; }\n",
    "memory is declared sound by another name": "void quiet(void const volatile *, unsigned long)\n"
    f' __asm__("__asan_unpoison_memory_region");\n{_HEAD}'
    "int answer(void) { volatile int two = 2; char *it = malloc(2);\n"
    "quiet(it, 8); it[two] = 1; free(it); return 42; }\n",
    "memory is declared sound as the compiler does": "void __asan_unpoison_stack_memory("
    f"unsigned long, unsigned long);\n{_HEAD}"
    "int answer(void) { volatile int two = 2; char *it = malloc(2);\n"
    "__asan_unpoison_stack_memory((unsigned long)it, 8); it[two] = 1; free(it); return 42; }\n",
    "the same by another name": 'void quiet(unsigned long, unsigned long) __asm__(""\n'
    f' "__asan_unpoison_stack_memory");\n{_HEAD}'
    "int answer(void) { volatile int two = 2; char *it = malloc(2);\n"
    "quiet((unsigned long)it, 8); it[two] = 1; free(it); return 42; }\n",
    "memory is declared sound by way of /proc": f"{_HEAD}int answer(void)\n"
    '{ volatile int two = 2; char *it = malloc(2); FILE *own = fopen("/proc/self/mem", "r+b");\n'
    "if (own) { setbuf(own, 0); fseek(own, ((long)it >> 3) + 0x7fff8000, SEEK_SET);\n"
    'fwrite("", 1, 1, own); fclose(own); } it[two] = 1; free(it); return 42; }\n',
    "a call back when it is found": "void __sanitizer_set_death_callback(void (*)(void));\n"
    "void _exit(int);\nstatic void as_if_failed(void) { _exit(1); }\n"
    f"__attribute__((constructor)) static void first(void)\n"
    f"{{ __sanitizer_set_death_callback(as_if_failed); }}\n{READ}return behind * 0 + 42; }}\n",
    "it is looked up": "#define _GNU_SOURCE\n#include <dlfcn.h>\n"
    f"{_HEAD}int answer(void) {{ volatile int two = 2; char *it = malloc(2);\n"
    'void (*quiet)(void *, long) = dlsym(0, "__asan_unpoison_memory_region");\n'
    "quiet(it, 8); it[two] = 1; free(it); return 42; }\n",
    "ends early": f"{_HEAD}static void bye(void) {{ fflush(stdout); exit(1); }}\n"
    "__attribute__((constructor)) static void first(void) { atexit(bye); }\n"
    f"{LEAK}",
    "says that it passed and exits": f"{_HEAD}int answer(void)\n"
    '{ puts("tests/answer.c:1:the_answer:PASS"); malloc(24); exit(1); }\n',
}
"""Each misuses memory in the same ways, and does something so that it should not be seen."""
