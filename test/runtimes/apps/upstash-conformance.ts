import { store } from 'store-of-the-runtime'
import { conformanceApp } from '../conformance-app.js'

/** Runs a command on the server, beside the store. */
async function run(...command: string[]): Promise<unknown> {
  const response = await fetch(process.env.UPSTASH_REDIS_REST_URL as string, {
    method: 'POST',
    headers: { authorization: `Bearer ${process.env.UPSTASH_REDIS_REST_TOKEN}` },
    body: JSON.stringify(command),
  })
  const { result } = (await response.json()) as { result: unknown }
  return result
}

/** Returns the time of the server, in milliseconds. */
async function serverTimeMs(): Promise<number> {
  const [seconds, micros] = (await run('TIME')) as [string, string]
  return Number(seconds) * 1000 + Number(micros) / 1000
}

export default conformanceApp({
  capabilities: { settableClock: false, anyKey: true, atomicAcrossKeys: true },
  async makeStore() {
    await run('FLUSHDB')
    return {
      store,
      async advance(ms) {
        const untilMs = (await serverTimeMs()) + ms
        while ((await serverTimeMs()) < untilMs) await new Promise((resolve) => setTimeout(resolve, 1))
      },
    }
  },
})
