import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { consecutive, memoryStore } from 'headgate'
import { ownerStore, type Store, StoreError, serveOperations } from 'headgate/store'
import type { ConformanceSetup } from 'headgate/testing'
import { chargeOne, part } from '../../../src/testing/conformance/store-calls.js'
import { firstMessage } from '../../support/first-message.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { describeStoreConformance, type Extent } from '../../support/store-conformance.js'
import { describeStoreExactness } from '../../support/store-exactness.js'
import type { OwnerRequest } from './owner-process.js'

const three = consecutive({ limit: 3 })

let ownerProgram: Bundle
let callerProgram: Bundle

/** A child process that owns states. */
class Owner {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, { resolve(reply: unknown): void; reject(error: Error): void }>()
  #sent = 0

  constructor(path: string) {
    this.#child = fork(path)
    this.#child.on('message', ({ id, reply }: { id: number; reply?: unknown }) => {
      this.#waiting.get(id)?.resolve(reply)
      this.#waiting.delete(id)
    })
    this.#child.once('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the owner has exited'))
      this.#waiting.clear()
    })
  }

  async started(): Promise<this> {
    await firstMessage(this.#child)
    return this
  }

  request(request: Omit<OwnerRequest, 'id'>): Promise<unknown> {
    if (!this.#child.connected)
      return Promise.reject(new StoreError('owner', 'no owner is connected', { unsent: true }))
    return new Promise((resolve, reject) => {
      const id = ++this.#sent
      this.#waiting.set(id, { resolve, reject })
      this.#child.send({ id, ...request })
    })
  }

  store(): Store {
    return ownerStore({ name: 'owner', send: (message) => this.request({ message }) })
  }

  end(): void {
    this.#child.kill('SIGKILL')
  }
}

/** Forks a process whose store sends its operations to this one. */
function startCaller(serve: ReturnType<typeof serveOperations>): ChildProcess {
  const child = fork(callerProgram.path, { silent: true })
  child.on('message', async ({ ownerRequest, message }: { ownerRequest?: number; message?: unknown }) => {
    if (ownerRequest === undefined) return
    const reply = await serve(message)
    if (child.connected) child.send({ ownerReply: ownerRequest, reply })
  })
  return child
}

/** Defines the tests of owners and callers in other processes. */
export function describeOwnerProcesses(extent: Extent): void {
  beforeAll(async () => {
    ownerProgram = await bundle(join(__dirname, 'owner-process.ts'))
    callerProgram = await bundle(join(__dirname, 'caller-process.ts'))
  })

  afterAll(async () => {
    await ownerProgram?.remove()
    await callerProgram?.remove()
  })

  describe('an owner in a child process', () => {
    let owner: Owner
    beforeAll(async () => {
      owner = await new Owner(ownerProgram.path).started()
    })
    afterAll(() => owner?.end())

    const setup: ConformanceSetup = {
      async makeStore() {
        await owner.request({ open: true })
        return {
          store: owner.store(),
          advance: (advanceMs) => owner.request({ advanceMs }).then(() => undefined),
        }
      },
      capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: true },
    }
    describeStoreConformance('ownerStore', setup, extent)

    test('what the owner throws is a StoreError here', async () => {
      const failure = await chargeOne(owner.store(), part('broken', three)).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(StoreError)
      expect(failure).toMatchObject({
        message: 'failing: the owner is broken',
        store: 'failing',
        replied: false,
      })
    })
  })

  test('operations fail while the owner is gone: those that were sent with its exit, others as unsent', async () => {
    const owner = await new Owner(ownerProgram.path).started()
    const store = owner.store()
    const exiting = owner.request({ message: 'exit' }).catch(() => undefined)
    await expect(chargeOne(store, part('a', three))).rejects.toThrow('owner: the owner has exited')
    await exiting
    await expect(chargeOne(store, part('a', three))).rejects.toMatchObject({ unsent: true })
  })

  describe('several processes whose operations this one applies', () => {
    const serve = serveOperations(memoryStore())
    describeStoreExactness(
      { startProcess: () => startCaller(serve), capabilities: { atomicAcrossKeys: true }, processes: 3 },
      extent,
    )
  })
}
