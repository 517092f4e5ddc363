/* The program `sudo`: asks the supervisor, and ends as the command has. It has no rights itself. */
#include "sudo.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define USAGE "usage: sudo [-n] [-E] [-u root] [-s] [--] [NAME=value ...] command [arguments]\n"
#define RULES "The policy of the task decides on each command when it is asked for.\n"

static char message[SUDO_REQUEST_MOST];
static size_t length = sizeof(struct sudo_request);
static struct sudo_request counts;

_Noreturn static void give_up(const char *what, const char *why) {
    fprintf(stderr, "sudo: %s%s%s\n", what, why ? ": " : "", why ? why : "");
    exit(1);
}

bool sudo_keeps(const char *variable) {
    static const char *const kept[] = {
        "TERM",     "LANG",        "LANGUAGE",    "TZ",       "COLUMNS",
        "LINES",    "NO_COLOR",    "DEBIAN_FRONTEND",         "SOURCE_DATE_EPOCH",
        "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
    };
    size_t size = strcspn(variable, "=");
    if (strncmp(variable, "LC_", 3) == 0) return true;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strlen(kept[i]) == size && strncmp(variable, kept[i], size) == 0) return true;
    return false;
}

static void add(const char *text, uint32_t *count) {
    size_t size = strlen(text) + 1;
    if (length + size > sizeof message) give_up("the command is too long", NULL);
    memcpy(message + length, text, size);
    length += size;
    ++*count;
}

static int is_root(const char *user) {
    return strcmp(user, "root") == 0 || strcmp(user, "0") == 0 || strcmp(user, "#0") == 0;
}

/* Options that take nothing away here: there is no password and no other user. */
static bool is_harmless(const char *option) {
    static const char *const harmless[] = {"-n", "-E", "-H", "-S", "-P", "-b", "-k", "-A", "-B",
                                           "--non-interactive", "--preserve-env", "--set-home",
                                           "--stdin", "--reset-timestamp"};
    if (strncmp(option, "--preserve-env=", 15) == 0) return true;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (strcmp(option, harmless[i]) == 0) return true;
    return false;
}

/* Reads the options; the place of the first word behind them. */
static int options(int count, char **arguments, bool *shell) {
    int at = 1;
    for (; at < count && arguments[at][0] == '-'; at++) {
        const char *option = arguments[at], *user = NULL;
        if (strcmp(option, "--") == 0) return at + 1;
        if (strcmp(option, "-u") == 0 || strcmp(option, "--user") == 0)
            user = at + 1 < count ? arguments[++at] : "";
        else if (strncmp(option, "--user=", 7) == 0) user = option + 7;
        else if (strncmp(option, "-u", 2) == 0) user = option + 2;
        else if (strcmp(option, "-p") == 0) at++;
        else if (strcmp(option, "-s") == 0 || strcmp(option, "-i") == 0) *shell = true;
        else if (strcmp(option, "-v") == 0 || strcmp(option, "-K") == 0) exit(0);
        else if (strcmp(option, "-l") == 0) exit(fputs(RULES, stdout) < 0);
        else if (strcmp(option, "-V") == 0) exit(puts("sudo of the sandbox") < 0);
        else if (!is_harmless(option)) {
            fputs(USAGE, stderr);
            give_up("unknown option", option);
        }
        if (user && !is_root(user)) give_up("only root can be asked for", user);
    }
    return at;
}

static void add_command(int count, char **words, bool shell) {
    static char line[SUDO_REQUEST_MOST];
    if (shell) {
        add("/bin/sh", &counts.words);
        for (int i = 0; i < count; i++) {
            if (strlen(line) + strlen(words[i]) + 2 > sizeof line)
                give_up("the command is too long", NULL);
            if (i) strcat(line, " ");
            strcat(line, words[i]);
        }
        if (!count) return;
        add("-c", &counts.words);
        add(line, &counts.words);
        return;
    }
    for (int i = 0; i < count; i++) add(words[i], &counts.words);
}

static bool is_assignment(const char *word) {
    return word[0] != '=' && strchr(word, '=') && !memchr(word, '/', strcspn(word, "="));
}

static void send_request(int door) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(SUDO_DESCRIPTORS * sizeof(int))];
    } control;
    int descriptors[SUDO_DESCRIPTORS] = {0, 1, 2, open(".", O_PATH | O_DIRECTORY)};
    struct iovec part = {message, length};
    struct msghdr request = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    if (descriptors[3] < 0) give_up("working directory", strerror(errno));
    memset(&control, 0, sizeof control);
    struct cmsghdr *header = CMSG_FIRSTHDR(&request);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptors);
    memcpy(CMSG_DATA(header), descriptors, sizeof descriptors);
    memcpy(message, &counts, sizeof counts);
    /* Streams and folder themselves, not names that could change: unix(7), SCM_RIGHTS. */
    if (sendmsg(door, &request, MSG_NOSIGNAL) < 0) give_up("the request", strerror(errno));
}

static int knock(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path + 1, SUDO_DOOR, sizeof SUDO_DOOR - 1);
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + sizeof SUDO_DOOR;
    int door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (door < 0 || connect(door, (struct sockaddr *)&address, size))
        give_up("nobody here runs anything as root", strerror(errno));
    return door;
}

/* Ends as the command did. */
_Noreturn static void end(int status) {
    struct rlimit none = {0, 0};
    if (!WIFSIGNALED(status)) exit(WEXITSTATUS(status));
    /* It ends by the signal that ended the command, but dumps no core for that: core(5). */
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    exit(128 + WTERMSIG(status));
}

int sudo_main(int count, char **arguments) {
    struct sudo_answer answer = {0};
    bool shell = false;
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0) open("/dev/null", O_RDWR);
    int first = options(count, arguments, &shell), command = first;
    while (command < count && is_assignment(arguments[command])) command++;
    if (command >= count && !shell) {
        fputs(USAGE, stderr);
        return 1;
    }
    add_command(count - command, arguments + command, shell);
    for (char **variable = environ; *variable; variable++)
        if (sudo_keeps(*variable)) add(*variable, &counts.variables);
    for (int i = first; i < command; i++) {
        if (!sudo_keeps(arguments[i])) give_up("this variable cannot be set", arguments[i]);
        add(arguments[i], &counts.variables);
    }
    int door = knock();
    send_request(door);
    ssize_t got;
    while ((got = recv(door, &answer, sizeof answer, 0)) < 0 && errno == EINTR) {
    }
    if (got != sizeof answer) give_up("the supervisor is gone", NULL);
    if (answer.refused) give_up(answer.reason, NULL);
    end(answer.status);
}
