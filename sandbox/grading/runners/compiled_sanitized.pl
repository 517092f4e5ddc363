# What compiled_unity.pl knows of gcc's sanitizers: tests of C that fail where memory is misused.
# https://gcc.gnu.org/onlinedocs/gcc/Instrumentation-Options.html
#
# What a sanitizer finds ends a test's process with a status that is drawn. So that a candidate cannot
# silence it, what is compiled may take nothing from outside but what the language's library has,
# and may not put anything in that library's place; no function may be left out of the checks. And
# each test that passes is run once more with a companion that misuses memory on purpose, behind it,
# which has to be found. Leaks are not looked for at the exit, which a candidate may change, but by
# what is allocated after a test and was not before. Nobody may read the program, so that it does
# not get at its own memory by /proc either.
use strict;
use warnings;

my @FLAGS = ('-fsanitize=address,undefined', '-fno-sanitize-recover=all');
my $FOUND = 100 + int(rand(100));    # the status of a process in which a sanitizer found something

# ISO/IEC 9899:2018, annex B, without what ends a process or asks about it, and the names that glibc
# gives some of them; and a few of POSIX that are as harmless.
my %LIBRARY = map { $_ => 1 } qw(
    __assert_fail __errno_location __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc
    isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit
    tolower toupper
    acos asin atan atan2 cbrt ceil copysign cos cosh erf exp exp2 expm1 fabs fdim floor fma fmax fmin
    fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan
    nearbyint nextafter pow remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh tgamma
    trunc acosf asinf atanf atan2f ceilf cosf expf fabsf floorf fmaxf fminf fmodf frexpf ldexpf logf
    log10f lrintf lroundf modff powf rintf roundf sinf sqrtf tanf truncf
    localeconv setlocale setjmp _setjmp __sigsetjmp longjmp
    stdin stdout stderr clearerr fclose feof ferror fflush fgetc fgetpos fgets fopen fprintf fputc
    fputs fread freopen fscanf fseek fsetpos ftell fwrite getc getchar perror printf putc putchar puts
    remove rename rewind scanf setbuf setvbuf snprintf sprintf sscanf tmpfile ungetc vfprintf vprintf
    vsnprintf vsprintf vsscanf __isoc99_sscanf __isoc99_fscanf __isoc99_vsscanf
    abort abs aligned_alloc atexit atof atoi atol atoll bsearch calloc div exit free labs ldiv llabs
    lldiv malloc mblen mbstowcs mbtowc qsort rand realloc srand strtod strtof strtol strtold strtoll
    strtoul strtoull wcstombs wctomb __isoc23_strtol __isoc23_strtoll __isoc23_strtoul
    __isoc23_strtoull __isoc23_sscanf
    memchr memcmp memcpy memmove memset strcat strchr strcmp strcoll strcpy strcspn strerror strlen
    strncat strncmp strncpy strpbrk strrchr strspn strstr strtok strxfrm
    asctime clock ctime difftime gmtime localtime mktime strftime time
    strdup strndup strnlen strcasecmp strncasecmp stpcpy strtok_r gmtime_r localtime_r __strdup
    _GLOBAL_OFFSET_TABLE_ __stack_chk_fail
);

# What the compiler itself puts in, and what stands in front of `main`.
my $INSERTED = qr/^(?:
    __asan_(?:init|version_mismatch_check_v\d+|handle_no_return|option_detect_stack_use_after_return
        |(?:un)?register_(?:elf_)?globals|(?:before|after)_dynamic_init
        |report_(?:exp_)?(?:load|store)(?:_n|\d+)(?:_noabort)?|(?:exp_)?(?:load|store)(?:N|\d+)(?:_noabort)?
        |stack_(?:malloc|free)(?:_always)?_\d+|alloca_poison|allocas_unpoison
        |(?:un)?poison_stack_memory|memcpy|memmove|memset|set_shadow_[0-9a-f]{2})
    |__ubsan_handle_\w+|__sanitizer_get_current_allocated_bytes)$/x;

my %FAULTS = (
    reads_behind  => 'kept = malloc(24); it = kept[24 + it]; free(kept);',
    writes_behind => 'kept = malloc(24); kept[24 + it] = 1; free(kept);',
    reads_freed   => 'kept = malloc(24); free(kept); it = kept[it];',
    overflows     => 'it = 2147483647; it = it + 1;',
);

my $STRING = qr/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'/;

# What the compiler puts in stands in no source.
my $BLINDING = qr/_*(?:asm|no_sanitize|no_address_safety_analysis)\w*|__(?:asan|lsan|ubsan|sanitizer)_\w+/;

# Ours: two of a name cannot be linked. A program that may not read itself has no environment for them.
my $BYTES = '__sanitizer_get_current_allocated_bytes';
my %OURS = map { $_ => 1 } qw(__asan_default_options __ubsan_default_options);

my %exported;

# What a file of tests is compiled with.
sub sanitizers { return @FLAGS }

# How a process ends in which one has found something.
sub found { return $FOUND << 8 }

# Give companions that misuse memory: for each name, its function. They take turns.
sub faulty {
    my ($named) = @_;
    my %functions;
    foreach my $fault (keys %FAULTS) {
        my $name = $named->(letters());
        $functions{$name} = "static void $name(void)\n"
            . "{ volatile int it = 0; char *volatile kept = 0; $FAULTS{$fault} (void)kept; }\n";
    }
    return %functions;
}

# Give a function that runs a test, and ends the process where memory is left behind, even where
# something still points to it. What is kept the first time alone, and for good, is no such: the
# test is run again to tell.
sub watched {
    my ($run) = @_;
    return <<"END";
const char *__asan_default_options(void) { return "exitcode=$FOUND:detect_leaks=0"; }
const char *__ubsan_default_options(void) { return "exitcode=$FOUND"; }
unsigned long $BYTES(void);
static void $run(void (*test)(void), const char *name, int line)
{
    unsigned long before = $BYTES(), kept, ended = Unity.TestFailures + Unity.TestIgnores;
    UnityDefaultTestRun(test, name, line);
    kept = $BYTES();
    if (kept == before || ended != Unity.TestFailures + Unity.TestIgnores) return;
    if (TEST_PROTECT()) {
        setUp();
        test();
        tearDown();
    }
    if ($BYTES() != kept) {
        fprintf(stderr, "%s leaves memory behind\\n", name);
        __builtin_trap();
    }
}
__attribute__((constructor)) static void ${run}_buffered(void)
{
    static char buffer[1 << 16];
    setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}
END
}

# Die where a function of a file is not watched. `$text` is what the preprocessor makes of it.
sub in_sight {
    my ($source, $text) = @_;
    while ($text =~ /$STRING|\b($BLINDING)\b/g) {
        my $word = $1 // next;
        # The name of a function in the library, as its headers have it.
        my $named = $word =~ /^_*asm_*$/ && $text =~ /\G\s*\(\s*(?:""\s*)?"(\w+)"\s*\)/gc;
        next if $named ? $1 !~ /^$BLINDING$/ : $OURS{$word} || $word eq $BYTES;
        die "$source: `$word` takes code out of the sanitizers' sight\n";
    }
}

# Die where objects, which are linked to one program, could stop the sanitizers.
sub alone {
    my $names = built('nm', '-P', '-g', @_);
    my %defined = map { $_ => 1 } $names =~ /^(\S+) [^Uwv\s]/mg;
    foreach my $name (sort keys %defined) {
        die "`$name` is not to be defined: it is the library's\n" if exported()->{$name} && !$OURS{$name};
    }
    foreach my $name (sort $names =~ /^(\S+) [Uwv]/mg) {
        next if $LIBRARY{$name} || $defined{$name} || $name =~ $INSERTED;
        die "`$name` is not to be used where sanitizers watch: it is not of C's own library\n";
    }
}

# Give the names that C's library and the sanitizers have.
sub exported {
    return \%exported if %exported;
    foreach my $library (qw(libc.so.6 libm.so.6 libasan.so libubsan.so)) {
        chomp(my $path = built('cc', "-print-file-name=$library"));
        my $names = built('nm', '-D', '-P', '--defined-only', $path);
        $exported{$1} = 1 while $names =~ /^([^@\s]+)/mg;
    }
    return \%exported;
}

1;
