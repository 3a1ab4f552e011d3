import { StoreError } from 'headgate'
import type { ChargeResult, MaybePromise } from 'headgate/store'

/** What became of a call of the store, and how long that took. */
export interface Outcome {
  readonly verdict: ChargeResult | undefined
  /** What it was rejected with, or `HUNG`. */
  readonly error: unknown
  readonly tookMs: number
}

/** Stands for the error of a call that was given up. */
export const HUNG = 'it neither answered nor failed'

/** Longer than any call takes on a busy machine, and shorter than a test may take. */
const HANGS_MS = 60_000

/** Waits for a call of one charge, but not for ever. */
export async function outcomeOf(
  call: MaybePromise<readonly ChargeResult[]>,
  timeoutMs = HANGS_MS,
): Promise<Outcome> {
  const from = performance.now()
  const end = (verdict: ChargeResult | undefined, error?: unknown): Outcome => {
    return { verdict, error, tookMs: performance.now() - from }
  }
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve(end(undefined, HUNG)), timeoutMs)
  })
  const answered = Promise.resolve(call).then(
    ([verdict]) => end(verdict),
    (error: unknown) => end(undefined, error),
  )
  return Promise.race([answered, tooLong]).finally(() => clearTimeout(timer))
}

/** What a call failed with: it must be a `StoreError` of this store. */
export async function failureOf(call: MaybePromise<unknown>): Promise<StoreError> {
  const answer = Promise.resolve(call).then(() => [])
  const { error, verdict } = await outcomeOf(answer)
  expect({ error, verdict }).toEqual({ error: expect.any(StoreError), verdict: undefined })
  expect(error).toMatchObject({ name: 'StoreError', store: 'redis' })
  return error as StoreError
}

/** The text of what the client threw. */
export function causeOf({ cause }: StoreError): string {
  expect(cause).toBeInstanceOf(Error)
  return (cause as Error).message
}

/** What a call was rejected with, which must be a StoreError. */
export async function rejection(call: unknown): Promise<StoreError> {
  const reason = await Promise.resolve(call).then(
    () => 'it was not rejected',
    (error: unknown) => error,
  )
  expect(reason).toBeInstanceOf(StoreError)
  expect(reason).toMatchObject({ name: 'StoreError', store: 'redis' })
  return reason as StoreError
}

/** How long a call takes, whether it is rejected or not. */
export async function timeOf(call: unknown): Promise<number> {
  const startedMs = performance.now()
  await Promise.resolve(call).catch(() => undefined)
  return performance.now() - startedMs
}
