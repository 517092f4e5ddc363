"""What a candidate in Go, Rust or C may do to pass a test that it fails: by name, its source."""

GO = "package version\n\n"
"""The candidate is one more file of the package."""

ANSWER = {
    "go test": "answer_test.go::TestAnswer",
    "cargo test": "tests/answer.rs::the_answer",
    "unity": "tests/answer.c::the_answer",
}

RIGHT = {
    "go test": f"{GO}func answer() int {{ return 42 }}\n",
    "cargo test": "pub fn answer() -> i32 { 42 }\n",
    "unity": "int answer(void) { return 42; }\n",
}
WRONG = {framework: source.replace("42", "41") for framework, source in RIGHT.items()}

_RUNNER = r"regexp.MustCompile(`testing\.tRunner\(0x([0-9a-f]+)`)"
"""What the trace of a stack shows of the test that runs."""

_RUST = "use std::io::Write;\npub fn answer() -> i32 {{\n{body}\n41 }}\n"
_SAY = "std::fs::OpenOptions::new().write(true).open({path}).unwrap().write_all({text}).unwrap();"

ATTACKS = {
    "go test": {
        "exits": f'{GO}import "syscall"\nfunc answer() int {{ syscall.Exit(0); return 41 }}\n',
        "exits at once": f'{GO}import "os"\nfunc init() {{ os.Exit(0) }}\n'
        "func answer() int { return 41 }\n",
        "says that it passed and exits": f'{GO}import ("fmt"; "syscall")\n'
        'func answer() int { fmt.Println("--- PASS: TestAnswer (0.00s)"); syscall.Exit(1)\n'
        "return 41 }\n",
        "says that all that were asked for passed": f'{GO}import ("fmt"; "os"; "strings")\n'
        "func init() { for _, word := range os.Args {\n"
        'for _, name := range strings.Split(strings.Trim(word, "^()$"), "|") {\n'
        'fmt.Printf("--- PASS: %s (0.00s)\\n", name) } }; os.Exit(1) }\n'
        "func answer() int { return 41 }\n",
        "writes to the runner's output": f'{GO}import ("fmt"; "os")\n'
        "func init() { for fd := 0; fd < 9; fd++ {\n"
        'f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/%d", os.Getppid(), fd), os.O_WRONLY, 0)\n'
        'if err == nil { fmt.Fprintln(f, "{}") } } }\n'
        "func answer() int { return 41 }\n",
        "kills the runner": f'{GO}import ("os"; "syscall")\n'
        "func answer() int { syscall.Kill(os.Getppid(), 9); return 41 }\n",
        "leaves another in its place": f'{GO}import ("os"; "os/exec")\n'
        'func answer() int { os.Setenv("LEFT", "1")\n'
        'exec.Command("/bin/sh", "-c", "while :; do sleep 1; done").Start(); return 41 }\n',
        "writes over its own program": f'{GO}import "os"\n'
        'func init() { if f, err := os.OpenFile("/proc/self/exe", os.O_WRONLY, 0); err == nil {\n'
        'f.WriteString("#!/bin/true\\n") } }\nfunc answer() int { return 41 }\n',
        "takes the test's name away": f'{GO}import ("fmt"; "reflect"; "regexp"; "runtime/debug"\n'
        '"strconv"; "testing"; "unsafe")\n'
        f"func answer() int {{ found := {_RUNNER}.FindSubmatch(debug.Stack())\n"
        "address, _ := strconv.ParseUint(string(found[1]), 16, 64)\n"
        "t := *(**testing.T)(unsafe.Pointer(&address))\n"
        'field := reflect.ValueOf(t).Elem().FieldByName("name").UnsafeAddr()\n'
        "name := (*string)(unsafe.Pointer(field))\n"
        'if *name != "x" { fmt.Printf("--- PASS: %s (0.00s)\\n", *name); *name = "x" }\n'
        "return 41 }\n",
        "takes the test's name away by a package in other letters": (
            f'{GO}import ("fmt"; "reflect"; "regexp"; "runtime/debug"; "strconv"\n'
            '"\\x74esting"; "\\x75nsafe")\n'
            f"func answer() int {{ found := {_RUNNER}.FindSubmatch(debug.Stack())\n"
            "address, _ := strconv.ParseUint(string(found[1]), 16, 64)\n"
            "t := *(**testing.T)(unsafe.Pointer(&address))\n"
            'field := reflect.ValueOf(t).Elem().FieldByName("name").UnsafeAddr()\n'
            "name := (*string)(unsafe.Pointer(field))\n"
            'if *name != "x" { fmt.Printf("--- PASS: %s (0.00s)\\n", *name); *name = "x" }\n'
            "return 41 }\n"
        ),
        "writes into its own memory": f'{GO}import ("encoding/binary"; "fmt"; "os"; "regexp"\n'
        '"runtime/debug"; "strconv")\n'
        f"func answer() int {{ found := {_RUNNER}.FindSubmatch(debug.Stack())\n"
        "address, _ := strconv.ParseInt(string(found[1]), 16, 64)\n"
        'memory, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)\n'
        "if err != nil { return 41 }\n"
        "words, name := make([]byte, 4096), make([]byte, 10)\n"
        "memory.ReadAt(words, address)\n"
        "for at := int64(0); at < 4000; at += 8 {\n"
        "where := int64(binary.LittleEndian.Uint64(words[at:]))\n"
        "if binary.LittleEndian.Uint64(words[at+8:]) != 10 { continue }\n"
        'if memory.ReadAt(name, where); string(name) != "TestAnswer" { continue }\n'
        "memory.WriteAt([]byte{1}, address+at+8)\n"
        'fmt.Print("--- PASS: TestAnswer (0.00s)\\n"); break }\n'
        "return 41 }\n",
        "sets the end in as if it were another's": f'{GO}import "fmt"\n'
        'func answer() int { fmt.Print("--- PASS: TestAnswer (0.00s)\\n    "); return 41 }\n',
        "recovers": f"{GO}func answer() int {{ defer func() {{ recover() }}()\n"
        'panic("--- PASS: TestAnswer (0.00s)") }\n',
    },
    "cargo test": {
        "says ok in front of the end": _RUST.format(
            body=_SAY.format(path='"/proc/self/fd/1"', text='b"ok\\n"')
        ),
        "says ok, and how many": _RUST.format(
            body=_SAY.format(
                path='"/proc/self/fd/1"',
                text='b"ok\\ntest result: FAILED. 2 passed; 1 failed; 1 ignored;\\n"',
            )
        ),
        "exits": _RUST.format(body="std::process::exit(0);"),
        "exits as if a test had failed": _RUST.format(body="std::process::exit(101);"),
        "says that it passed and exits": _RUST.format(
            body=_SAY.format(path='"/proc/self/fd/1"', text='b"ok\\n"') + "std::process::exit(101);"
        ),
        "says that all that were asked for passed": _RUST.format(
            body="for name in std::env::args() {\n"
            'let line = format!("test {} ... ok\\n", name);\n'
            + _SAY.format(path='"/proc/self/fd/1"', text="line.as_bytes()")
            + "}\nstd::process::exit(101);"
        ),
        "kills the runner": _RUST.format(
            body="let parent = std::os::unix::process::parent_id();\n"
            'std::process::Command::new("/bin/sh").arg("-c")'
            '.arg(format!("kill -9 {}", parent)).status().unwrap();'
        ),
    },
    "unity": {
        "takes the test's name away": "#include <stdio.h>\n"
        'extern struct { const char *file, *name; } its __asm__("Unity") __attribute__((weak));\n'
        "int answer(void) { if (&its) {\n"
        'printf("t.c:1:%s:PASS\\n", its.name); its.name = "x"; }\nreturn 41; }\n',
        "ends the test by its framework": '#include "tests/unity/src/unity.h"\n'
        "int answer(void) { TEST_PASS(); return 41; }\n",
        "says that it passed": "#include <stdio.h>\n"
        'int answer(void) { printf("t.c:1:the_answer:PASS\\n:"); return 41; }\n',
        "exits": "#include <stdlib.h>\nint answer(void) { exit(0); }\n",
        "exits as if a test had failed": "#include <unistd.h>\n"
        "__attribute__((constructor)) static void first(void) { _exit(1); }\n"
        "int answer(void) { return 41; }\n",
        "says that it passed and exits": "#include <stdio.h>\n#include <stdlib.h>\n"
        'int answer(void) { puts("tests/answer.c:1:the_answer:PASS"); exit(1); }\n',
        "says that all that were asked for passed": "#include <stdio.h>\n#include <unistd.h>\n"
        "__attribute__((constructor)) static void first(int count, char **words)\n"
        '{ while (--count > 0) printf("a.c:1:%s:PASS\\n", words[count]);\n'
        "fflush(stdout); _exit(1); }\n"
        "int answer(void) { return 41; }\n",
        "has another in place of a function of Unity's": "#include <stdio.h>\n"
        "void UnityAssertEqualNumber(long a, long b, const char *c, unsigned short d, int e) { }\n"
        "int answer(void) { return 41; }\n",
        "has another in place of the end of Unity's": "#include <stdio.h>\n"
        "void UnityConcludeTest(void) { }\nint answer(void) { return 41; }\n",
        "writes over its own program": "#include <fcntl.h>\n#include <unistd.h>\n"
        "__attribute__((constructor)) static void first(void)\n"
        '{ int it = open("/proc/self/exe", O_WRONLY);\n'
        'if (it >= 0) write(it, "#!/bin/true\\n", 12); }\n'
        "int answer(void) { return 41; }\n",
        "kills the runner": "#include <signal.h>\n#include <unistd.h>\n"
        "int answer(void) { kill(getppid(), SIGKILL); return 41; }\n",
    },
}
"""Each answers wrongly."""
