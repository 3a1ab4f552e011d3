/** Escape sequences of terminals. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with one
const COLOURS = /\u001b\[[\d;]*m/g

/** Lines of logs that have no requests, or not what a replay needs, and how to get it. */
const OTHERS: readonly (readonly [pattern: RegExp, problem: string])[] = [
  [
    /^\[Nest\] \d+ /,
    "It is Nest's console, which has no requests. Log them, such as with morgan('combined')",
  ],
  [/^\d{4}\/\d\d\/\d\d [\d:]{8} \[[a-z]+\] \d+#\d+: /, "It is nginx' error log. Name the access log"],
  [/^\[[A-Z][a-z]{2} [^\]]+ \d{4}\] \[[\w:-]+\] \[pid /, "It is Apache's error log. Name the access log"],
  [
    /^(?:[A-Z]{3,7} \/\S* (?:\d{3}|-) |(?:<--|-->) [A-Z]{3,7} )/,
    "Its lines have neither times nor IP addresses. Log both, such as with morgan('combined')",
  ],
  [
    /^\d\d:\d\d:\d\d +\|[^|]*\|[^|]*\| +\S+ +\| *[A-Z]{3,7} +\|/,
    "Its times have no dates. Log them, such as with TimeFormat: time.RFC3339 in the configuration of Fiber's logger",
  ],
  [/^INFO: +\S+ - "[A-Z]{3,7} /, 'Its lines have no times. Log them beside the requests'],
  [
    /^\S+ \S+ [A-Z]{3,7} \/\S* HTTP\/[\d.]+ (?:\d{3}|-) /,
    "Its lines have no times. Log them, such as with morgan('combined')",
  ],
]

/** Returns what is missing in a log that people take for an access log, and the fix; '' for any other. */
export function describeOtherLog(line: string): string {
  const text = line.slice(0, MAX_LENGTH).replace(COLOURS, '')
  return OTHERS.find(([pattern]) => pattern.test(text))?.[1] ?? ''
}

/** How much of a line is looked at. */
const MAX_LENGTH = 1000
