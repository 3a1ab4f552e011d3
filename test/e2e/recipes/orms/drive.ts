/** Charges the store that a block of the page exports, over the pool of its library. */
import { createLimiter, fixedWindow } from 'headgate'

const [file, proxy] = process.argv.slice(2)
if (proxy !== undefined) await useProxy(proxy)
const { limits, openLimits } = await import(`./${file}`)
const store = limits ?? (await openLimits())
await store.prepare()
const policy = fixedWindow({ limit: 10, window: '1h' })
const limiter = createLimiter({ name: `orm-${file}`, key: String, policy, store, timeout: '20s' })
const decisions = await Promise.all(Array.from({ length: 40 }, () => limiter.charge('ada')))
const allowed = decisions.filter((decision) => decision.allowed).length
const sources = [...new Set(decisions.map((decision) => decision.source))].filter(
  (name) => name !== 'deny-cache',
)
console.log(JSON.stringify({ allowed, sources }))
process.exit()

/** Lets Neon's driver reach a PostgreSQL server through a proxy that speaks WebSocket, as Neon's own does. */
async function useProxy(address: string): Promise<void> {
  const neon = '@neondatabase/serverless'
  const { neonConfig } = await import(neon)
  const { WebSocket } = await import('ws')
  Object.assign(neonConfig, {
    wsProxy: () => `${address}/`,
    webSocketConstructor: WebSocket,
    useSecureWebSocket: false,
    pipelineTLS: false,
    pipelineConnect: false,
  })
}
