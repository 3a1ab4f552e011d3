import { memoryStore, type Store } from 'headgate'
import { customStore, type Documents } from 'headgate/store'
import { textVersion } from '../../../../src/stores/shared/text-version.js'

/** What becomes of calls. After `lose`, a write happens, and its reply is lost. */
export type Fault = 'none' | 'fail' | 'hang' | 'lose'

/** Documents in memory, in place of those of a shared store, which can fail. The version of a text is its hash. */
export function sharedDocuments() {
  const texts = new Map<string, string>()
  const damaged = new Set<string>()
  /** All texts that were written, in order. */
  const written: { readonly key: string; readonly text: string }[] = []
  /** The keys of all texts that were read, in order. */
  const sent: string[] = []
  const calls: string[] = []
  let fault: Fault = 'none'
  let hanging: (() => void)[] = []

  async function call<T>(name: string, run: () => T): Promise<T> {
    calls.push(name)
    if (fault === 'fail') throw new Error('connection lost')
    if (fault === 'hang') await new Promise<void>((resolve) => hanging.push(resolve))
    const result = run()
    if (fault === 'lose' && name === 'write') throw new Error('reply lost')
    return result
  }

  const documents: Documents = {
    read: (requests) =>
      call('read', () =>
        requests.map(({ key, version }) => {
          if (damaged.has(key)) return { version: 'damaged', damage: 'a value of another program' }
          const text = texts.get(key)
          if (text === undefined) return undefined
          const current = textVersion(text)
          if (current === version) return { version }
          sent.push(key)
          return { version: current, text }
        }),
      ),
    replace: (key, text, version) =>
      call('write', () => {
        const current = texts.get(key)
        if ((current === undefined ? undefined : textVersion(current)) !== version) return false
        texts.set(key, text)
        written.push({ key, text })
        return true
      }),
  }
  return {
    documents,
    texts,
    damaged,
    written,
    sent,
    calls,
    /** The texts of documents of a kind, such as those of processes. */
    of: (kind: string) =>
      [...texts].filter(([key]) => key.startsWith(`hg:dashboard:${kind}`)).map(([, text]) => text),
    set(next: Fault) {
      fault = next
      const waiting = hanging
      hanging = []
      for (const resolve of waiting) resolve()
    },
  }
}

export type SharedDocuments = ReturnType<typeof sharedDocuments>

/** Returns a store that other processes may use, with these documents. */
export function sharedStore(documents: Documents, name = 'redis'): Store {
  const { apply } = memoryStore()
  return customStore({ name, apply: (operations) => apply(operations), documents })
}
