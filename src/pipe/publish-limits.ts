import { isIsolate } from '../platform.js'
import type { Store } from '../stores/store.js'
import { StoreError } from '../stores/store-error.js'
import { inBackground } from '../util/background-timer.js'
import { afterTurn } from '../util/defer.js'
import { limitsIn, limitsText, publishedLimits, type ScopedPolicy } from './limits-document.js'

/** How often other processes may change the document first. */
const MAX_CONFLICTS = 3
/** How long after a failure of the store the publisher tries again. */
const RETRY_MS = 60_000

/** A limiter whose limits are published. */
export interface PublishingLimiter {
  readonly store: Store
  /** The key of the document. */
  readonly limitsKey: string
  readonly context: { readonly name: string | undefined; readonly limiterScope: string }
}

type Watch = () => Watch | undefined

/** Publishes the numbers of a limiter's limits, which its keys and states do not contain. */
export interface LimitsPublisher {
  /** Called when a limit has been bound. */
  onBound(): void
  /** Publishes at the first charge, since creating a limiter sends nothing to the store. */
  watch(): Watch | undefined
  close(): void
}

/**
 * Creates the publisher of a limiter. After the first charge, and when settings or a policy function bring
 * other numbers, it writes those of all `limits` into a small document in the store, unless the document has
 * them. The command line and the dashboard read it. No charge waits for the publisher, or fails with it.
 * Returns `undefined` for a limiter without a name, and for a store that has no documents.
 */
export function limitsPublisher(
  { store, context, limitsKey: key }: PublishingLimiter,
  limits: () => Iterable<ScopedPolicy>,
): LimitsPublisher | undefined {
  const { name, limiterScope } = context
  if (name === undefined || store.documents === undefined) return undefined
  const { documents } = store
  const start = limiterScope.slice(0, -name.length)
  let isCharged = false
  let isDue = true
  let isPublishing = false
  let attemptedAtMs = Number.NEGATIVE_INFINITY
  let retry: ReturnType<typeof setTimeout> | undefined

  function publish(): void {
    if (isPublishing || !isCharged) return
    isPublishing = true
    attemptedAtMs = performance.now()
    afterTurn(async () => {
      await publishWhileDue().catch(retryLater)
      isPublishing = false
    })
  }

  /**
   * On isolates, each charge publishes until that succeeds, because the request that began may end first.
   */
  const watchIsolate: Watch = () => {
    if (performance.now() - attemptedAtMs >= RETRY_MS) {
      isPublishing = false
      publish()
    }
    return isPublishing || isDue ? watchIsolate : undefined
  }

  async function publishWhileDue(): Promise<void> {
    for (let conflicts = 0; isDue && conflicts < MAX_CONFLICTS; ) {
      isDue = false // unless a limit is bound meanwhile
      if (await writeMissing()) continue
      isDue = true
      conflicts++
    }
  }

  /** Writes the limits that the document lacks. Returns false if another process has changed it first. */
  async function writeMissing(): Promise<boolean> {
    const [stored] = await documents.read([{ key }])
    if (stored?.damage !== undefined) return true // leave another program's value alone
    const own = publishedLimits(limits(), start)
    const published = new Set(limitsIn(stored?.text).map((limit) => JSON.stringify(limit)))
    if (own.every((limit) => published.has(JSON.stringify(limit)))) return true
    return documents.replace(key, limitsText(own), stored?.version)
  }

  function retryLater(error: unknown): void {
    isDue = true
    const isDenied = error instanceof StoreError && error.replied // such as for lack of permission
    if (isDenied || isIsolate()) return
    retry = inBackground(setTimeout(publish, RETRY_MS))
  }

  return {
    onBound() {
      isDue = true
      publish()
    },
    watch() {
      isCharged = true
      publish()
      return isIsolate() ? watchIsolate : undefined
    },
    close() {
      isCharged = false
      clearTimeout(retry)
    },
  }
}
