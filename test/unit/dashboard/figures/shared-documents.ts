import { memoryStore, type Store } from 'headgate'
import { customStore, type Documents } from 'headgate/store'

/** Documents of slots in memory, in place of those of a shared store. The version of a text is the text. */
export function sharedDocuments() {
  /** The text in each slot. */
  const texts: string[] = []
  /** All texts that were written, in order. */
  const written: string[] = []
  const slotOf = (key: string) => Number(key.slice(key.lastIndexOf('/') + 1))
  const documents: Documents = {
    async read(requests) {
      return requests.map(({ key, version }) => {
        const text = texts[slotOf(key)]
        if (text === undefined) return undefined
        return text === version ? { version } : { version: text, text }
      })
    },
    async replace(key, text, version) {
      if (texts[slotOf(key)] !== version) return false
      texts[slotOf(key)] = text
      written.push(text)
      return true
    },
  }
  return { documents, texts, written }
}

/** Returns a store that other processes may use, with these documents. */
export function sharedStore(documents: Documents): Store {
  const { apply } = memoryStore()
  return customStore({ name: 'redis', apply: (operations) => apply(operations), documents })
}
