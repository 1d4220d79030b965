"""C identifiers of Python names: keywords, macros and our own names are avoided, other alphabets spelled out."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
    concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete
    do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
    requires return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
    true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq restrict
    linux unix i386 main std size_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
    error errors failure warning omp_in omp_out omp_priv args symbols results numbers result
"""
KEYWORDS = frozenset(_WORDS.split())
_LIBRARY = """
    abort abs accept access aligned_alloc alarm asctime at_quick_exit atexit atof atoi atol atoll bind bsearch calloc
    chdir chmod chown clearerr clock close closedir connect creat ctime difftime div dup dup2 environ errno execl
    execv execve exit fclose fcntl fdopen feof ferror fflush fgetc fgetpos fgets fileno fopen fork fprintf fputc fputs
    fread free freopen fscanf fseek fsetpos fstat fsync ftell ftruncate fwrite getc getchar getcwd getenv getopt
    getpid gets gmtime htonl htons index ioctl isalnum isalpha isascii isatty isblank iscntrl isdigit isgraph islower
    isprint ispunct isspace isupper isxdigit kill labs ldiv link listen llabs lldiv localeconv localtime longjmp lseek
    main malloc mblen mbstowcs mbtowc memchr memcmp memcpy memmove memset mkdir mktime mmap mprotect munmap nice open
    opendir pause perror pipe poll popen printf putc putchar putenv puts qsort quick_exit raise rand random read
    readdir realloc recv remove rename rewind rindex rmdir scanf select send setbuf setenv setjmp setlocale setvbuf
    shutdown sigaction signal sleep snprintf socket sprintf srand srandom sscanf stat strcasecmp strcat strchr strcmp
    strcoll strcpy strcspn strdup strerror strftime strlen strncat strncmp strncpy strpbrk strrchr strspn strstr
    strtod strtof strtok strtol strtold strtoll strtoul strtoull strxfrm symlink sync system thrd_create time
    timespec_get times tmpfile tmpnam toascii tolower toupper truncate umask uname ungetc unlink usleep vfprintf
    vprintf vsnprintf vsprintf wait waitpid wcslen wcstombs wctomb write madvise
"""
#: functions of the C library (C11, chapter 7) and of POSIX: others would call a program of that name instead
C_LIBRARY = frozenset(_LIBRARY.split())
_NUMBERED = re.compile(r"(?P<stem>.+?)(?P<numbers>(?P<first>_\d+)(_\d+)*)")
RESULT = re.compile(r"__return(_\d+)?")


class Names:
    """C identifiers of one function: one per Python name, and locals that collide with none of them."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._reserved = frozenset((*reserved, *KEYWORDS))
        self._taken = set(self._reserved)
        self._known: dict[str, str] = {}

    def of(self, name: str) -> str:
        """The identifier of a container, symbol or parameter; the same one each time."""
        if name not in self._known:
            self._known[name] = self.fresh(name)
        return self._known[name]

    def fresh(self, stem: str) -> str:
        """A new identifier that resembles `stem`."""
        plain = identifier(stem)
        name, number = plain, 0
        while name in self._taken:
            number += 1
            name = f"{plain}_{number}"
        self._taken.add(name)
        return name

    def stem(self, name: str) -> str:
        """An identifier without the numbers that distinguish it from others here: of ``i_tile_2``, ``i_tile``."""
        found = _NUMBERED.fullmatch(name)
        if found is None or found["stem"] in self._reserved:
            return name
        is_ours = found["stem"] in self._taken or found["first"] != found["numbers"]  # users do not write x_1_1
        return found["stem"] if is_ours else name

    def adopt(self, name: str) -> None:
        """Make an identifier stand for the Python name that is spelled like it."""
        self._known[name] = name

    def local(self, stem: str, used: set[str]) -> str:
        """An identifier for a block of its own: differs from all of the function's and from those in `used`."""
        plain = identifier(stem)
        name, number = plain, 0
        while name in self._taken or name in used:
            number += 1
            name = f"{plain}_{number}"
        used.add(name)
        return name


def identifier(name: str) -> str:
    """A C identifier for a Python one (or a dotted one), not yet unique."""
    match = RESULT.fullmatch(name)
    if match:
        return f"returned{match.group(1) or ''}"
    text = "".join(c if c.isascii() and (c.isalnum() or c == "_") else _spelled(c) for c in name)
    text = re.sub(r"__+", "_", text)  # two underscores are the compiler's own
    if not text or text[0].isdigit():
        text = f"n{text}"
    ours = re.match(r"_[A-Z]|dcpy_|omp_", text) or text.endswith(("_buffer_", "_shared_", "_element_"))
    return f"my{text}" if ours else text


def _spelled(character: str) -> str:
    return "_" if character == "." else f"u{ord(character):04x}"
