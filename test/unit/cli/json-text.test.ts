import fc from 'fast-check'
import { parseJson } from '../../../src/cli/log/json-text.js'

/** Lines come as UTF-8 that is read as Latin-1. */
const parse = (text: string) => parseJson(Buffer.from(text).toString('latin1'))

test.each([
  ['escapes of nginx', String.raw`{"a":"GET /\x22a\x5C HTTP/1.1","b":1}`, { a: 'GET /"a\\ HTTP/1.1', b: 1 }],
  ['UTF-8 in escapes of nginx', String.raw`{"a":"jos\xC3\xA9"}`, { a: 'josé' }],
  ['UTF-8 beside other escapes', String.raw`{"a":"é\x20\u00e9\ud83d\ude00"}`, { a: 'é é😀' }],
  ['an escape that is none', String.raw`{"a":"\q\'"}`, { a: "q'" }],
  ['a tab in a string', '{"a":"x\ty"}', { a: 'x\ty' }],
  ['a bare dash', '{"a":-,"b":-}', { a: null, b: null }],
  ['an empty number', '{"a":,"b": }', { a: null, b: null }],
  ['NaN', '{"a":NaN,"b":-Infinity,"c":nan}', { a: null, b: null, c: null }],
  ['leading zeros', '{"a":007,"b":-01}', { a: '007', b: '-01' }],
  ['two numbers', '{"a":0.001, 0.002,"b":0.1, - : 0.2}', { a: '0.001, 0.002', b: '0.1, - : 0.2' }],
  ['numbers in a list', '{"a":[007,1,-,"x"]}', { a: ['007', 1, null, 'x'] }],
  ['a comma after the last field', '{"a":true,}', { a: true }],
  ['a comma after the object', '{"a":false},', { a: false }],
  ['a word', '{"a":hit,"b":1.5e3}', { a: 'hit', b: 1500 }],
  [
    'a nested object',
    '{"a":{"b":-,"c":{"d":,}},"e":[{"f":-}]}',
    { a: { b: null, c: { d: null } }, e: [{ f: null }] },
  ],
  ['a name that comes twice', '{"a":1,"a":2,"b":-}', { a: 2, b: null }],
])('%s', (_, text, value) => {
  expect(parse(text)).toEqual(value)
})

test('a field named __proto__ is one like others', () => {
  const value = parse('{"__proto__":{"ip":"192.0.2.1"},"b":-}')
  expect(Object.entries(value as object)).toEqual([
    ['__proto__', { ip: '192.0.2.1' }],
    ['b', null],
  ])
  expect((value as Record<string, unknown>).ip).toBeUndefined()
})

test.each([
  '{',
  '{"a"',
  '{"a":',
  '{"a":1',
  '{"a":"x',
  String.raw`{"a":"x\"}`,
  '{"a":-}}',
  '{"a":-} x',
  '{a:-}',
  '{"a" -}',
  '{"a":"x" "b":-}',
  '{"a":[-}',
  '',
  '-',
])('no value: %s', (text) => {
  expect(parse(text)).toBeUndefined()
})

test('what strict JSON has is the same in a text with a flaw', () => {
  fc.assert(
    fc.property(fc.object({ withNullPrototype: false }), (value) => {
      const json = JSON.stringify(value)
      expect(parse(`${json},`)).toEqual(JSON.parse(json))
    }),
  )
})

test('any text has a value, or none', () => {
  const part = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    '\\',
    ',',
    ':',
    '-',
    '0',
    'a',
    ' ',
    String.raw`\x2`,
    String.raw`\u00`,
  )
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const text = `{"a":${parts.join('')}}`
      expect([text, typeof parse(text)]).toEqual([text, expect.stringMatching(/^(?:object|undefined)$/)])
    }),
  )
})

const LONG = 1_000_000
test.each([
  ['brackets', '{"a":['.repeat(LONG / 6)],
  ['commas', `{"a":-${','.repeat(LONG)}`],
  ['commas and spaces', `{"a":-${', '.repeat(LONG / 2)}`],
  ['a comma and spaces', `{"a":-,${' '.repeat(LONG)}`],
  ['backslashes', `{"a":"${'\\'.repeat(LONG)}`],
  ['escaped quotes', `{"a":"${'\\"'.repeat(LONG / 2)}`],
  ['escapes of surrogates', `{"a":-,"b":"${'\\ud83d'.repeat(LONG / 6)}`],
  ['quotes', '"'.repeat(LONG)],
])('a long text of %s has no value', (_, text) => {
  expect(parse(text)).toBeUndefined()
})
