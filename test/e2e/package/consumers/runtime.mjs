// Limits a server of Deno or Bun, whichever runs this, and prints what its clients got.

import { rateLimit } from 'headgate/fetch'

const addresses = new Set()
const limit = rateLimit({ limit: 2, window: '1m' })

function respond(request, ip) {
  addresses.add(ip)
  return limit.handle(request, { ip }, () => new Response('ok'))
}

function serve() {
  const place = { hostname: '127.0.0.1', port: 0 }
  if (globalThis.Deno === undefined) {
    const fetch = (request, server) => respond(request, server.requestIP(request)?.address)
    return globalThis.Bun.serve({ ...place, fetch }).port
  }
  const handler = (request, info) => respond(request, info.remoteAddr.hostname)
  return globalThis.Deno.serve({ ...place, onListen() {} }, handler).addr.port
}

const port = serve()
const seen = []
for (let i = 0; i < 3; i++) {
  const response = await fetch(`http://127.0.0.1:${port}/`)
  await response.text()
  seen.push([response.status, response.headers.get('x-ratelimit-remaining')])
}
console.log(JSON.stringify({ seen, addresses: [...addresses] }))
process.exit()
