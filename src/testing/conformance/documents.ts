import type { Documents, StoredDocument } from '../../stores/documents.js'
import { expectEqual } from '../assertions.js'
import { type Bodies, casesOf } from './store-case.js'

/** A text with what a codec may get wrong. */
const TEXT = `{"text":"'é\\n\u{1f680}\\\\ \\" $1 ? :a %s"}`
/** As long as a text may be in every store, less the room for a header. */
const LONG_TEXT = 'x'.repeat(1_000_000)

/** Returns the version of the only document that was asked for. */
async function readOne(documents: Documents, key: string): Promise<StoredDocument | undefined> {
  const [found] = await documents.read([{ key }])
  return found
}

/** Adds a number to a list in a document, as often as it takes. */
async function append(documents: Documents, key: string, number: number): Promise<void> {
  for (;;) {
    const found = await readOne(documents, key)
    const numbers: readonly number[] = JSON.parse(found?.text ?? '[]')
    if (await documents.replace(key, JSON.stringify([...numbers, number]), found?.version)) return
  }
}

const bodies: Readonly<Record<string, (documents: Documents) => Promise<void>>> = {
  'is missing until it is written, and then read as it was written': async (documents) => {
    expectEqual('a missing document', await readOne(documents, 'settings'), undefined)
    expectEqual('whether it was written', await documents.replace('settings', TEXT, undefined), true)
    expectEqual('the text', (await readOne(documents, 'settings'))?.text, TEXT)
    expectEqual('another document', await readOne(documents, 'other'), undefined)
  },

  'is replaced only if its version is the one that was read': async (documents) => {
    await documents.replace('settings', 'first', undefined)
    const first = await readOne(documents, 'settings')
    const attempts = [
      await documents.replace('settings', 'created', undefined),
      await documents.replace('settings', 'second', 'other'),
      await documents.replace('settings', 'second', first?.version),
      await documents.replace('settings', 'third', first?.version),
      await documents.replace('missing', 'text', first?.version),
    ]
    expectEqual('whether each was written', attempts, [false, false, true, false, false])
    expectEqual('the text', (await readOne(documents, 'settings'))?.text, 'second')
    expectEqual('a document that was never there', await readOne(documents, 'missing'), undefined)
  },

  'has another version for each text, and may leave out a text whose version is known': async (documents) => {
    await documents.replace('one', 'same', undefined)
    await documents.replace('two', 'other', undefined)
    const before = await documents.read([{ key: 'one' }, { key: 'missing' }, { key: 'two' }])
    expectEqual(
      'the texts, in order',
      before.map((found) => found?.text),
      ['same', undefined, 'other'],
    )
    const [one, , two] = before
    expectEqual('whether two documents share a version', one?.version === two?.version, false)
    await documents.replace('two', 'changed', two?.version)
    const after = await documents.read([
      { key: 'one', version: one?.version },
      { key: 'two', version: two?.version },
    ])
    expectEqual('whether the first version is the same', after[0]?.version === one?.version, true)
    expectEqual('the text of the first, if it is there', after[0]?.text ?? 'same', 'same')
    expectEqual('whether the second version is the same', after[1]?.version === two?.version, false)
    expectEqual('the new text of the second', after[1]?.text, 'changed')
  },

  'may have a million characters': async (documents) => {
    await documents.replace('settings', LONG_TEXT, undefined)
    const found = await readOne(documents, 'settings')
    expectEqual('whether the text is the same', found?.text === LONG_TEXT, true)
  },

  'loses no concurrent change': async (documents) => {
    const numbers = Array.from({ length: 30 }, (_, i) => i)
    await Promise.all(numbers.map((number) => append(documents, 'settings', number)))
    const written: number[] = JSON.parse((await readOne(documents, 'settings'))?.text ?? '[]')
    expectEqual(
      'all that were appended',
      written.toSorted((a, b) => a - b),
      numbers,
    )
  },
}

/** The documents of stores that have some. */
export const documentCases = casesOf(
  'a document',
  Object.fromEntries(
    Object.entries(bodies).map(([name, body]): [string, Bodies[string]] => [
      name,
      async ({ store }) => void (store.documents && (await body(store.documents))),
    ]),
  ),
)
