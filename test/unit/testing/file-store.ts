import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Store } from 'headgate'
import type { Operation, State } from 'headgate/store'
import { applyOperations, customStore, type StateWrite } from 'headgate/store'
import { keysOf } from '../../../src/stores/operation.js'

/**
 * What a store locks between its read and its write: the keys in their order, nothing, the keys of charges
 * but not of refunds, or the keys in the order in which a charge names them.
 */
export type Locking = 'sorted' | 'none' | 'charges' | 'unsorted'

/** Creates a store with a file for each key of a folder, which several processes share. */
export function fileStore(folder: string, locking: Locking): Store {
  const pathOf = (key: string) => join(folder, createHash('sha256').update(key).digest('hex'))
  let writes = 0

  async function read(keys: readonly string[]): Promise<(key: string) => State | undefined> {
    const texts = await Promise.all(keys.map((key) => readFile(pathOf(key), 'utf8').catch(() => undefined)))
    const states = new Map(keys.map((key, i) => [key, texts[i] && (JSON.parse(texts[i]) as State)]))
    return (key) => states.get(key) || undefined
  }

  async function write({ key, state }: StateWrite): Promise<void> {
    if (state === undefined) return rm(pathOf(key), { force: true })
    const next = join(folder, `${process.pid}-${++writes}`)
    await writeFile(next, JSON.stringify(state))
    await rename(next, pathOf(key))
  }

  async function withLocks<T>(keys: readonly string[], use: () => Promise<T>): Promise<T> {
    const locked: string[] = []
    try {
      for (const key of keys) {
        await lock(`${pathOf(key)}.lock`)
        locked.push(key)
      }
      return await use()
    } finally {
      await Promise.all(locked.map((key) => rmdir(`${pathOf(key)}.lock`)))
    }
  }

  const isLocked = (type: Operation['type']) =>
    locking !== 'none' && (locking !== 'charges' || type !== 'refund')

  return customStore({
    name: 'file',
    apply(operations) {
      const keys = [...new Set(operations.flatMap(keysOf).map(({ key }) => key))]
      if (locking !== 'unsorted') keys.sort()
      return withLocks(operations.some(({ type }) => isLocked(type)) ? keys : [], async () => {
        const { outcomes, writes } = applyOperations(operations, await read(keys), Date.now())
        await Promise.all(writes.map(write))
        return outcomes
      })
    },
  })
}

/** Makes a folder, which only one process can do. */
async function lock(path: string): Promise<void> {
  for (;;) {
    try {
      return void (await mkdir(path))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      await pause(1)
    }
  }
}
