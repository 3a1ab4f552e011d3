import { ENTRIES } from '../package/entries.js'
import { docCommentOf, exportedNames } from '../package/exported-names.js'
import { commentsOf } from './doc-comments.js'
import { blocksOf } from './pages.js'

/** Exported values without an example, and why. */
const EXEMPT: Readonly<Record<string, string>> = {
  DAY: 'is a number',
  HOUR: 'is a number',
  MINUTE: 'is a number',
  SECOND: 'is a number',
  ValidationError: 'is only logged',
  ...Object.fromEntries(
    [
      'ban',
      'concurrency',
      'consecutive',
      'fixedWindow',
      'quota',
      'slidingLog',
      'slidingWindow',
      'tokenBucket',
    ].map((name) => [`${name}Kind`, 'is an argument of limitsObject, whose example names some']),
  ),
  serveStore: 'waits for the tests of storeExactness, whose example says where to call it',
}

const VALUES = ENTRIES.flatMap(({ name: entry, specifier }) =>
  exportedNames(entry).values.map((name) => ({ entry, specifier, name })),
)

/** Returns the examples of a value, each a block. */
function examplesOf(entry: string, name: string) {
  const text = docCommentOf(entry, name)
  return text.includes(' * @example\n') ? blocksOf(commentsOf({ path: name, text })) : []
}

test('every exported value has one example, except a few', () => {
  const counts = VALUES.map(({ entry, specifier, name }) => ({
    value: `${specifier} ${name}`,
    examples: examplesOf(entry, name).length,
    expected: Object.hasOwn(EXEMPT, name) ? 0 : 1,
  }))
  expect(counts.length).toBeGreaterThan(60)
  expect(counts.filter(({ examples, expected }) => examples !== expected)).toEqual([])
})

test('every exception is an exported value', () => {
  const names = VALUES.map(({ name }) => name)
  expect(Object.keys(EXEMPT).filter((name) => !names.includes(name))).toEqual([])
})

test('an example imports what it shows from an entry that exports it', () => {
  const problems = VALUES.filter(({ entry, specifier, name }) => {
    const [example] = examplesOf(entry, name)
    const imported = name === 'default' ? '\\w+' : name
    const from =
      specifier === 'headgate/http' || specifier === 'headgate/store' ? 'headgate(?:/\\w+)?' : specifier
    const pattern = new RegExp(`^import (?:\\w+, )?\\{[^}]*\\b${imported}\\b[^}]*\\} from '${from}'`, 'm')
    return example !== undefined && !pattern.test(example.code)
  })
  expect(problems).toEqual([])
})
