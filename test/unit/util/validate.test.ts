import { optional, readOptions } from '../../../src/options/option-table.js'
import {
  choice,
  findNearest,
  keyName,
  show,
  whole,
  wholeNumber,
  wrongOption,
} from '../../../src/util/validate.js'

test.each<[unknown, string]>([
  ['10', '"10"'],
  ['', '""'],
  ['a"b\n', '"a\\"b\\n"'],
  ['x'.repeat(60), `"${'x'.repeat(60)}"`],
  ['x'.repeat(61), `"${'x'.repeat(57)}..."`],
  ['redis://admin:hunter2@10.0.0.1:6379', 'a string'],
  [`postgres://${'x'.repeat(60)}:hunter2@db`, 'a string'],
  ['user:hunter2@host', 'a string'],
  [Symbol('redis://hunter2'), 'a symbol'],
  ['12:30', '"12:30"'],
  ['me@example.org', '"me@example.org"'],
  [5n, '5n'],
  [Number.NaN, 'NaN'],
  [-0.5, '-0.5'],
  [undefined, 'undefined'],
  [null, 'null'],
  [true, 'true'],
  [Symbol('s'), 'Symbol(s)'],
  [[1, 2], 'an array of 2'],
  [{}, 'an object'],
  [Object.create(null), 'an object'],
  [new Date(0), 'an object'],
  [function named() {}, 'function named'],
  [(() => () => {})(), 'a function'],
])('%p is shown as %s, short and on one line', (value, expected) => {
  expect(show(value)).toBe(expected)
})

test.each([
  ['a C0 control', '\u001b[2J', '\\u001b[2J'],
  ['a delete', '\u007f', '\\u007f'],
  ['a C1 control, as a forwarding header may hold it', '\u009b2J', '\\u009b2J'],
  ['a line separator', 'a\u2028b', 'a\\u2028b'],
  ['a paragraph separator', 'a\u2029b', 'a\\u2029b'],
  ['an override of direction', '\u202egnp.exe', '\\u202egnp.exe'],
  ['an isolate', '\u2066a', '\\u2066a'],
  ['half a surrogate pair', '\ud83d', '\\ud83d'],
  ['a tag', '\u{e0041}', '\\udb40\\udc41'],
])('a value with %s is shown without it', (_what, text, shown) => {
  expect(show(text)).toBe(`"${shown}"`)
  expect(show(Symbol(text))).toBe(`Symbol(${shown})`)
})

test('a wrong option says who, which, what it must be, what it was, and the fix where there is one', () => {
  const error = wrongOption('someone', 'limit', 'a number', 'x', 'Did you mean limit: 1?')
  expect(error).toBeInstanceOf(TypeError)
  expect(error.message).toBe('someone: limit must be a number, got "x". Did you mean limit: 1?')
  expect(wrongOption('someone', 'limit', 'a number', 'x').message).toBe(
    'someone: limit must be a number, got "x".',
  )
})

test.each([
  [1, 1, 5],
  [5, 1, 5],
  [0, 0, 5],
])('whole returns %p, which is from %p to %p', (value, min, max) => {
  expect(whole(min, max)('someone', 'n', value)).toBe(value)
})

test.each<[unknown, string]>([
  [0, '1'],
  [6, '5'],
  [-7, '1'],
  [1.2, '2'],
  ['3', '3'],
  [' 4 ', '4'],
  ['99', '5'],
  ['', '5'],
  ['x', '5'],
  [Number.NaN, '5'],
  [Number.POSITIVE_INFINITY, '5'],
  [null, '5'],
  [{ valueOf: () => 3 }, '5'],
])('a whole number from 1 to 5 is not %p, and %s is suggested', (value, suggested) => {
  expect(() => whole(1, 5)('someone', 'n', value)).toThrow(
    `someone: n must be a whole number from 1 to 5, got ${show(value)}. Did you mean n: ${suggested}?`,
  )
})

test('a choice returns an allowed word, and suggests the nearest for any other', () => {
  const mode = choice('enforce', 'report')
  expect(mode('someone', 'mode', 'report')).toBe('report')
  expect(() => mode('someone', 'mode', 'REPORTS')).toThrow(
    "someone: mode must be one of 'enforce', 'report', got \"REPORTS\". Did you mean mode: 'report'?",
  )
  expect(() => mode('someone', 'mode', 'xyz')).toThrow(/got "xyz"\.$/)
  expect(() => mode('someone', 'mode', ['report'])).toThrow(/got an array of 1\.$/)
})

const rows = { limit: optional(wholeNumber) }

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
  '%s is not an option, although objects inherit it',
  (key) => {
    const options = JSON.parse(`{ "${key}": 1 }`)
    expect(() => readOptions('someone', options, { rows })).toThrow(
      `someone: there is no option "${key}". Known options: limit.`,
    )
  },
)

test('an unknown option of any length is a short message', () => {
  expect(() => readOptions('someone', { ['x'.repeat(100_000)]: 1 }, { rows })).toThrow(/^.{1,200}$/)
})

test.each(['a', 'A9', 'login.ip', 'a-b_c', 'x'.repeat(64)])('%p is a name', (name) => {
  expect(keyName('someone', 'name', name)).toBe(name)
})

test.each<[unknown, string]>([
  ['', 'api'],
  ['log in', 'log-in'],
  [' login', 'login'],
  ['-login', 'login'],
  ['a:b{c}', 'a-b-c-'],
  ['a\r\nSet-Cookie: x', 'a-Set-Cookie-x'],
  ['"', 'api'],
  ['\u00fc', 'api'],
  ['redis://admin:hunter2@10.0.0.1:6379', 'api'],
  ['user:hunter2@host', 'api'],
  ['x'.repeat(65), 'x'.repeat(64)],
  [7, 'api'],
  [null, 'api'],
])('%p is no name, and %p is suggested, which is one', (name, suggested) => {
  expect(() => keyName('someone', 'name', name)).toThrow(`Did you mean name: '${suggested}'?`)
  expect(keyName('someone', 'name', suggested)).toBe(suggested)
})

test.each<[string, string | undefined]>([
  ['limit', 'limit'],
  ['LIMIT', 'limit'],
  ['limt', 'limit'], // a letter missing
  ['limiit', 'limit'], // one too many
  ['linit', 'limit'], // a wrong one
  ['ilmit', 'limit'], // two swapped, which is two edits
  ['windwo', 'window'],
  ['lmt', 'limit'],
  ['kye', 'key'],
  ['xyz', undefined],
  ['', undefined],
  ['colour', undefined],
  ['somethingElse', undefined],
])('the nearest to %j is %j', (word, nearest) => {
  expect(findNearest(word, ['limit', 'window', 'cost', 'key'])).toBe(nearest)
})
