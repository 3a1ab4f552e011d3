import { accountOf, SPELT_VICTIM } from './accounts.js'
import type { Form } from './attack.js'

/** Characters that collations ignore and that may be in names: a joiner, fillers, variation selectors. */
const IGNORED = ['\u034f', '\u115f', '\u180b', '\u3164', '\ufe0f', '\uffa0', '\u{e0100}']
/** Characters that collations ignore and that names may not hold: controls, joiners, directions, tags. */
const INVISIBLE = [
  ...'\u0001\u0008\u001f\u007f\u0080\u00ad\u0600\u0605\u061c\u06dd\u070f',
  ...'\u200b\u200c\u200d\u200e\u202a\u2060\u2062\u2066\ufeff\ufff9\ufffb\u{1d173}\u{e0020}',
]
/** Blanks around a name, also those that are no ASCII. */
const BLANKS = [' ', '   ', '\u00a0', '\u2003', '\u2028', '\u202f', '\u3000']

/** Spellings that the application takes for one account. */
export const SPELLINGS: readonly string[] = [
  SPELT_VICTIM,
  SPELT_VICTIM.toUpperCase(),
  SPELT_VICTIM.toLowerCase(),
  ...SPELT_VICTIM.split('').map((letter, i) => withCharacterAt(i, letter.toUpperCase())),
  ...BLANKS.flatMap((blank) => [blank + SPELT_VICTIM, SPELT_VICTIM + blank]),
  ...IGNORED.flatMap(spellingsWith),
  SPELT_VICTIM.replace('ß', 'ss'),
  SPELT_VICTIM.replace('ß', 'ẞ'),
  SPELT_VICTIM.replace('ß', 'SS'),
  SPELT_VICTIM.replace('ß', 'ſs'),
  SPELT_VICTIM.replace(/ς/, 'σ'),
  SPELT_VICTIM.replace('σ', 'ς'),
  SPELT_VICTIM.replace('σ', 'Σ'),
  SPELT_VICTIM.normalize('NFD'),
  SPELT_VICTIM.replace('ί', 'ί'),
  SPELT_VICTIM.replace(/[a-z0-9]/g, fullWidth),
  SPELT_VICTIM.toUpperCase().replace(/[A-Z0-9]/g, fullWidth),
  SPELT_VICTIM.replace(/[a-z]/g, (letter) => mathematical(letter, 0x1d41a)),
  SPELT_VICTIM.replace(/[a-z]/g, (letter) => mathematical(letter, 0x1d5ba)),
  SPELT_VICTIM.replace(/[a-z]/g, (letter) => mathematical(letter, 0x24d0)),
  SPELT_VICTIM.replace(/ /g, '\u3000'),
  SPELT_VICTIM.replace(/ /g, '\u00a0'),
].filter((spelling, i, all) => accountOf(spelling) === SPELT_VICTIM && all.indexOf(spelling) === i)

/** Spellings that the application takes for one account, with characters that show nothing. */
export const INVISIBLE_SPELLINGS: readonly string[] = INVISIBLE.flatMap(spellingsWith)

/** A number in place of a text, and texts that are the same number to the application. */
export const NUMBERS: readonly Form[] = [
  ...['4711', '4711.0', '4.711e3', '47110e-1', '0.4711e4', '"4711"', '" 4711 "', '"4711 "', '"\\ufe0f4711"'],
  ...[
    '"\\u034f4711"',
    '"4711\\u3164"',
    '"47\\ufe0f11"',
    '4711.00',
    '471100E-2',
    '"4711\\u2003"',
    '"\\uff14711"',
  ],
].map(json)

const IN_FORMS = [
  ...['username[]=$', 'username[]=$&username[]=bob', 'username=$&username=$', 'username=bob&username=$'],
  ...['username[0]=$', 'username[5]=$', 'username[a]=$', 'username[toString]=$', 'username[username]=$'],
  ...['username[a][b][c]=$', 'username=$%00', 'username[__proto__]=$&username[length]=3'],
]

const IN_JSON = [
  ...['["$"]', '[["$"]]', '["$","bob"]', '[]', '{}', '{"username":"$"}', '{"toString":"$"}', '{"$ne":null}'],
  ...['{"length":3}', '{"__proto__":"$"}', 'true', 'false', 'null', '"$\\u0000"', '1e999', '"\\ud800$"'],
]

/** What can be no name. */
export const MALFORMED: readonly Form[] = [
  ...IN_FORMS.map((body) => formOf(body.replaceAll('$', encodeURIComponent(SPELT_VICTIM)))),
  ...IN_JSON.map((value) => json(value.replaceAll('$', SPELT_VICTIM))),
]

function json(username: string): Form {
  return (password) => ({
    type: 'application/json',
    body: `{"username":${username},"password":${JSON.stringify(password)}}`,
  })
}

function formOf(username: string): Form {
  return (password) => ({
    type: 'application/x-www-form-urlencoded',
    body: `${username}&password=${encodeURIComponent(password)}`,
  })
}

/** A character before, in and after the name. */
function spellingsWith(character: string): string[] {
  return [character + SPELT_VICTIM, withCharacterAt(1, `d${character}`), SPELT_VICTIM + character]
}

function withCharacterAt(at: number, by: string): string {
  return SPELT_VICTIM.slice(0, at) + by + SPELT_VICTIM.slice(at + 1)
}

function fullWidth(letter: string): string {
  return String.fromCodePoint((letter.codePointAt(0) as number) + 0xfee0)
}

/** A letter from an alphabet of which Unicode has the small ones side by side. */
function mathematical(letter: string, small: number): string {
  return String.fromCodePoint(small + (letter.codePointAt(0) as number) - 0x61)
}
