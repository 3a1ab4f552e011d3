// A server of Deno with Deno's types, and no others.
import { denoKvStore } from 'headgate/deno-kv'
import { byIp, rateLimit } from 'headgate/fetch'

const store = denoKvStore(await Deno.openKv())
const api = rateLimit({ limit: 2, window: '1h', key: byIp(), store })

Deno.serve((request, { remoteAddr }) =>
  api.handle(request, { ip: remoteAddr.hostname }, () => new Response('hello')),
)

export const mistakes = [
  // @ts-expect-error: a promise of a KV is no KV
  () => denoKvStore(Deno.openKv()),
]
