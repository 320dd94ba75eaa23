/* A bot in C11: it speaks the arena's protocol (arena/isolation/PROTOCOL.md) and needs nothing besides a POSIX system.
   Start with `choose`; the rest can stay as it is. */
#define _POSIX_C_SOURCE 200809L /* getline */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reading JSON. A value is a pointer to its first character in the line, NULL if there is none. The arena's lines are
   well-formed; where one is cut short, the 0 at its end stops every walk. */

static const char *skip_spaces(const char *at) {
    return at + strspn(at, " \t\r\n");
}

static const char *behind_string(const char *quote) {
    const char *at = quote + 1;
    while (*at && *at != '"') at += *at == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
}

/* The place behind a value of any type. */
static const char *behind(const char *value) {
    const char *at = value;
    int depth = 0;
    do {
        depth += (*at == '[' || *at == '{') - (*at == ']' || *at == '}');
        if (*at == '"') at = behind_string(at);
        else if (*at) at += 1 + strcspn(at + 1, "\"[]{},");
    } while (*at && depth > 0);
    return at;
}

/* The first value of a list, or the first key of an object. */
static const char *first(const char *container) {
    if (!container || (*container != '[' && *container != '{')) return NULL;
    const char *at = skip_spaces(container + 1);
    return *at && *at != ']' && *at != '}' ? at : NULL;
}

/* What comes after a value or a key in its list or object. */
static const char *next(const char *value) {
    if (!value) return NULL;
    const char *at = skip_spaces(behind(value));
    return *at == ',' || *at == ':' ? skip_spaces(at + 1) : NULL;
}

static char *put_utf8(char *to, uint32_t code) {
    int more = (code >= 0x80) + (code >= 0x800) + (code >= 0x10000);
    *to++ = (char)(more ? (0xFFu << (6 - more)) | code >> 6 * more : code);
    while (more-- > 0) *to++ = (char)(0x80 | (code >> 6 * more & 0x3F));
    return to;
}

/* The number in the four digits behind "\u"; 0 where there is no such escape. */
static uint32_t unicode_escape(const char *at) {
    char digits[5] = "";
    if (at[0] == '\\' && at[1] == 'u') strncat(digits, at + 2, 4);
    return (uint32_t)strtoul(digits, NULL, 16);
}

/* A string's text in UTF-8, to be freed; "" for anything else. No escape is shorter than what it stands for. */
static char *text(const char *value) {
    const char *end = value && *value == '"' ? behind_string(value) - 1 : value;
    char *decoded = malloc((size_t)(end - value) + 1), *to = decoded;
    if (!decoded) abort();
    for (const char *at = value ? value + 1 : end; at < end; at++) {
        static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
        if (*at != '\\') {
            *to++ = *at;
        } else if (*++at != 'u') {
            const char *letter = strchr(letters, *at);
            *to++ = letter ? meant[letter - letters] : *at;
        } else {
            uint32_t code = unicode_escape(at - 1), low = 0;
            at += 4;
            if (code >= 0xD800 && code < 0xDC00) low = unicode_escape(at + 1);
            if (low >= 0xDC00 && low < 0xE000) {
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                at += 6;
            }
            to = put_utf8(to, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
        }
    }
    *to = 0;
    return decoded;
}

static bool is_text(const char *value, const char *expected) {
    char *decoded = text(value);
    bool same = !strcmp(decoded, expected);
    free(decoded);
    return same;
}

static const char *member(const char *object, const char *key) {
    for (const char *name = first(object); name; name = next(next(name)))
        if (is_text(name, key)) return next(name);
    return NULL;
}

/* The bot. */

static struct {
    uint64_t generator;
    long boldness;
} match; /* all that is kept of the running match */

/* Splitmix64: from the same seed the same numbers in every language. */
static uint64_t draw(void) {
    uint64_t mixed = match.generator += 0x9E3779B97F4A7C15;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB;
    return mixed ^ mixed >> 31;
}

static void begin(const char *message) {
    char *seed = text(member(message, "seed"));
    match.generator = strtoull(seed, NULL, 10);
    free(seed);
    const char *boldness = member(member(message, "options"), "boldness");
    match.boldness = boldness ? strtol(boldness, NULL, 10) : 100;
}

/* In `boldness` of 100 moves any legal action, all equally likely; in the others the first: a JSON string of the list
   `legal`. The message also holds the plies since the last one, the position and the clock. */
static const char *choose(const char *message) {
    const char *action = first(member(message, "legal"));
    uint64_t count = 0;
    for (const char *each = action; each; each = next(each)) count++;
    if (!action) {
        fputs("a move message without legal actions\n", stderr);
        exit(EXIT_FAILURE);
    }
    if (draw() % 100 < (uint64_t)match.boldness)
        for (uint64_t left = draw() % count; left > 0; left--) action = next(action);
    return action;
}

int main(void) {
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        const char *message = skip_spaces(line), *type = member(message, "type");
        if (is_text(type, "hello")) {
            puts("{\"type\":\"ready\"}");
        } else if (is_text(type, "newgame")) {
            begin(message);
            puts("{\"type\":\"ready\"}");
        } else if (is_text(type, "move")) {
            const char *action = choose(message);
            printf("{\"type\":\"action\",\"action\":%.*s}\n", (int)(behind(action) - action), action);
        } else if (is_text(type, "quit")) {
            break;
        }
        fflush(stdout);
    }
    free(line);
}
