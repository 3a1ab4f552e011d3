import { join } from 'node:path'
import { statusAt } from '../../runtimes/at-once.js'
import { expectHang } from '../../runtimes/hanging.js'
import { type Running, startIn } from '../../runtimes/start-in.js'

/** Serves a Worker with an object that tests can let hang. */
export function startServed(timeout = '1s'): Promise<Running> {
  return startIn('workerd', join(__dirname, 'served-worker.ts'), {
    durableObjects: { LIMITS: 'ServedObject' },
    env: { HANG_TIMEOUT: timeout },
  })
}

/** Defines the tests that so many requests at once never hang with their objects. */
export function describeHanging(running: () => Running, counts: readonly number[]): void {
  test.each(counts)(
    'objects that hang let none of %i requests hang, and decide exactly once they are back',
    async (count) => {
      const { url } = running()
      const hang = (isHanging: boolean) => statusAt(`${url}/hang?on=${isHanging ? 1 : 0}`)
      const calls = async () => (await fetch(`${url}/calls`)).json()
      await expectHang({ url, hang, calls }, count)
    },
    300_000,
  )
}
