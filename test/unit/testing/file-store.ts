import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { applyRefunds, decideCharges, type State, type Store } from 'headgate'

/**
 * A store that several processes break: it reads a file, decides, and writes the file, and nothing keeps
 * others from doing so in between.
 */
export function brokenFileStore(folder: string): Store {
  const file = join(folder, 'states.json')
  let writes = 0

  const load = async () => new Map<string, State>(JSON.parse(await readFile(file, 'utf8').catch(() => '[]')))
  async function save(states: Map<string, State>): Promise<void> {
    const next = join(folder, `${process.pid}-${++writes}.json`)
    await writeFile(next, JSON.stringify([...states]))
    await rename(next, file)
  }
  function apply(states: Map<string, State>, written: Iterable<{ key: string; state: State | undefined }>) {
    for (const { key, state } of written) {
      if (state === undefined) states.delete(key)
      else states.set(key, state)
    }
  }

  return {
    name: 'file',
    async charge(charges) {
      const states = await load()
      const { verdicts, writes } = decideCharges(charges, (key) => states.get(key), Date.now())
      apply(states, writes)
      await save(states)
      return verdicts
    },
    async refund(refunds) {
      const states = await load()
      apply(
        states,
        applyRefunds(refunds, (key) => states.get(key), Date.now()),
      )
      await save(states)
    },
    async forget(keys) {
      const states = await load()
      for (const { key } of keys) states.delete(key)
      await save(states)
    },
  }
}
