import fc from 'fast-check'
import { byField, foldName } from 'headgate'

const key = byField('username')

const CODE_POINTS = Array.from({ length: 0x110000 }, (_, i) => String.fromCodePoint(i))

test.each([
  ['Ada', 'ada'],
  [' ADA\u3000', 'ada'],
  ['ＡＤＡ', 'ada'],
  ['a\ufe0fda', 'ada'],
  ['josé', 'josé'],
  ['JOSE\u0301', 'josé'],
  ['Strauß', 'strauss'],
])('%j folds to %j', (name, folded) => {
  expect(foldName(name)).toBe(folded)
})

/** What is in a name that is refused: of each kind some, assigned or not. */
const INVISIBLE: [what: string, ...codePoints: number[]][] = [
  ['a control character', 0, 1, 0x09, 0x0a, 0x1f, 0x7f, 0x85, 0x9f],
  ['a soft hyphen', 0xad],
  ['an Arabic number sign', 0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6dd, 0x8e2],
  ['a joiner or a mark of direction', 0x61c, 0x200b, 0x200c, 0x200d, 0x200e, 0x202e, 0x2060, 0x2066, 0xfeff],
  ['an interlinear annotation', 0xfff9, 0xfffa, 0xfffb],
  ['a tag', 0xe0001, 0xe0020, 0xe007f],
  ['a private-use character', 0xe000, 0xf8ff, 0xf0000, 0x10fffd],
  ['half a surrogate pair', 0xd800, 0xdbff, 0xdc00, 0xdfff],
  ['an unassigned code point', 0x378, 0x2065, 0xfff0, 0xffff, 0xe0000, 0xe0fff, 0x10ffff],
]

test.each(INVISIBLE)(
  'a name with %s cannot be folded, wherever that occurs',
  (_what, ...codePoints: number[]) => {
    const names = codePoints
      .map((codePoint) => String.fromCodePoint(codePoint))
      .flatMap((character) => [`${character}ada`, `a${character}da`, `ada${character}`, character])
    expect(names.map(foldName)).toEqual(names.map(() => undefined))
  },
)

test.each([
  ['an empty name', ''],
  ['a blank one', ' \u3000'],
  ['one of fillers', '\u3164\u115f'],
  ['one of 1025 characters', 'x'.repeat(1025)],
  ['one that folds to very many characters', '\ufdfa'.repeat(1000)],
  ['undefined', undefined],
  ['a number', 7],
  ['a list', ['ada']],
  ['an object', { toString: () => 'ada' }],
])('%s cannot be folded', (_what, name) => {
  expect(foldName(name as string)).toBeUndefined()
})

test('1024 characters can be folded', () => {
  expect(foldName('X'.repeat(1024))).toBe('x'.repeat(1024))
})

test('a folded name is folded already, for each code point and for any text', () => {
  const again = CODE_POINTS.filter((character) => {
    const folded = foldName(`a${character}b`)
    return folded !== undefined && foldName(folded) !== folded
  })
  expect(again).toEqual([])
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      const folded = foldName(name)
      return folded === undefined || foldName(folded) === folded
    }),
    { numRuns: 2000 },
  )
})

test('byField identifies by the folded name; a name that cannot be folded is malformed', () => {
  const names = CODE_POINTS.filter((_, i) => i < 0x3000 || i % 37 === 0).map((character) => `A${character}`)
  const keys = names.map((username) => key({ body: { username } }))
  expect(keys).toEqual(names.map((name) => foldName(name) ?? null))
  expect(new Set(keys).size).toBeGreaterThan(5000)
  expect(keys).toContain(null)
})
