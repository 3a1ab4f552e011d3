import type { PolicyFromText } from '../builders/policy-text.js'
import { serveMessage } from '../builders/serve-operations.js'
import { applyOperations } from '../shared/apply-operations.js'
import type { Store } from '../store.js'
import { objectDocuments } from './object-documents.js'
import { ObjectStates } from './object-states.js'
import type { ObjectContext, ObjectRequest, ObjectStorage } from './platform.js'

/** The name of the store in errors. */
export const STORE_NAME = 'durable-objects'
/** The URL parameter that says how many milliseconds states may wait to be written. */
export const WRITE_DELAY = 'writeDelay'
/** The shortest time between two sweeps. */
const SWEEP_MS = 3_600_000

/** A Durable Object that serves a `durableObjectsStore`. */
export class ServingObject {
  /** Tells Cloudflare's types that this is a Durable Object. It has no value. */
  declare readonly __DURABLE_OBJECT_BRAND: never
  readonly #storage: ObjectStorage
  readonly #policyFromText: PolicyFromText
  readonly #states: ObjectStates
  readonly #documents: NonNullable<Store['documents']>
  /** Whether the alarm is known to be set. */
  #hasAlarm = false

  constructor({ storage }: ObjectContext, policyFromText: PolicyFromText) {
    this.#storage = storage
    this.#policyFromText = policyFromText
    this.#states = new ObjectStates(storage)
    this.#documents = objectDocuments(storage)
  }

  /** Returns the time, in milliseconds since the Unix epoch. Override it to test limits at other times. */
  protected now(): number {
    return Date.now()
  }

  /** Responds to a request from the store. */
  async fetch(request: ObjectRequest): Promise<Response> {
    const delayMs = Number(new URL(request.url).searchParams.get(WRITE_DELAY))
    const reply = await serveMessage(this.#store(delayMs), await request.json(), this.#policyFromText)
    if (!this.#hasAlarm) await this.#setAlarm()
    return Response.json(reply)
  }

  /** Removes expired states. */
  async alarm(): Promise<void> {
    this.#hasAlarm = false // so that a charge during the sweep sets the next alarm
    const nextMs = await this.#states.sweep(this.now())
    if (nextMs < Number.POSITIVE_INFINITY) await this.#setAlarm(nextMs)
  }

  #store(delayMs: number): Store {
    return {
      name: STORE_NAME,
      documents: this.#documents,
      apply: (operations) => {
        const nowMs = this.now()
        const { outcomes, writes } = applyOperations(operations, (key) => this.#states.read(key), nowMs)
        this.#states.write(writes, nowMs, delayMs)
        return outcomes
      },
    }
  }

  async #setAlarm(atMs = 0): Promise<void> {
    this.#hasAlarm = true
    try {
      if ((await this.#storage.getAlarm()) !== null) return
      await this.#storage.setAlarm(Math.max(atMs, this.now() + SWEEP_MS))
    } catch (error) {
      this.#hasAlarm = false // the next write tries again
      throw error
    }
  }
}
