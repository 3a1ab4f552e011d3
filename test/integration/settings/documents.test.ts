import type { Documents } from 'headgate/store'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { STORES, type Started } from '../store-kinds.js'

const PROCESSES = 4
const CHANGES = 15

/** Returns whether a write waited for a lock for too long, as it may on a busy machine. It has changed nothing. */
const hasWaited = (error: Error) => error.message.includes('Lock wait timeout exceeded')

/** Adds a name to a list in a document, as often as it takes. */
async function append({ read, replace }: Documents, key: string, name: string): Promise<void> {
  for (let isDone = false; !isDone; ) {
    const [found] = await read([{ key }])
    const names: readonly string[] = JSON.parse(found?.text ?? '[]')
    const written = replace(key, JSON.stringify([...names, name]), found?.version)
    isDone = await written.catch((error) => {
      if (!hasWaited(error)) throw error
      return false
    })
  }
}

describe.each(STORES)('on $name', (kind) => {
  let started: Started
  beforeAll(async () => {
    started = await kind.start()
  }, INSTALL_TIMEOUT_MS)
  afterAll(() => started?.stop())

  test('four processes change one document at once, and lose nothing', async () => {
    const stores = await Promise.all(Array.from({ length: PROCESSES }, () => started.makeStore()))
    const names = stores.flatMap((_, process) =>
      Array.from({ length: CHANGES }, (_, change) => `${process}-${change}`),
    )
    await Promise.all(
      names.map((name, i) => append(stores[i % PROCESSES]?.documents as Documents, 'list', name)),
    )
    const [found] = (await stores[0]?.documents?.read([{ key: 'list' }])) ?? []
    expect(JSON.parse(found?.text ?? '[]').sort()).toEqual(names.sort())
  })

  test('a key of any length is that of one document', async () => {
    const { read, replace } = (await started.makeStore()).documents as Documents
    const keys = [`${'é'.repeat(300)}a`, `${'é'.repeat(300)}b`, 'with a blank', 'with\nlines']
    for (const key of keys) expect(await replace(key, key, undefined)).toBe(true)
    const found = await read(keys.map((key) => ({ key })))
    expect(found.map((each) => each?.text)).toEqual(keys)
  })
})
