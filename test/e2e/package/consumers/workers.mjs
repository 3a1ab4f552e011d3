// Sends requests to worker.mjs, bundled, in the runtime of Cloudflare Workers, and prints what is answered as JSON.
import { Miniflare } from 'miniflare'

const [, , compatibilityDate] = process.argv
const logged = []
const workers = new Miniflare({
  modules: true,
  scriptPath: 'worker-bundled.mjs',
  compatibilityDate,
  compatibilityFlags: ['nodejs_compat'],
  handleRuntimeStdio(...streams) {
    for (const stream of streams) stream.on('data', (data) => logged.push(String(data)))
  },
})

async function send(path, ip) {
  const headers = { 'cf-connecting-ip': ip }
  const response = await workers.dispatchFetch(`http://localhost${path}`, { headers, redirect: 'manual' })
  await response.text()
  return response
}

async function statusesOf(...requests) {
  const statuses = []
  for (const request of requests) statuses.push((await send(...request)).status)
  return statuses
}

const [ada, bob] = ['192.0.2.1', '192.0.2.2']
const first = await send('/', ada)
const seen = {
  headers: Object.fromEntries([...first.headers].filter(([name]) => /ratelimit/.test(name))),
  resetsInSeconds: Number(first.headers.get('x-ratelimit-reset')) - Date.now() / 1000,
  limited: await statusesOf(['/', ada], ['/', ada], ['/', bob]),
  retryAfter: (await send('/', ada)).headers.get('retry-after'),
  failures: await statusesOf(
    ...[200, 200, 401, 401, 200].map((status) => [`/failures?status=${status}`, ada]),
  ),
  inFlight: await statusesOf(['/in-flight', ada], ['/in-flight', ada]),
  redirect: (await send('/redirect', '2001:db8::1')).headers.get('x-ratelimit-remaining'),
  unknown: await statusesOf(['/unknown', ada], ['/unknown', bob], ['/unknown', ada]),
}
while (!logged.join('').includes('HEADGATE_NO_ADDRESS'))
  await new Promise((resolve) => setTimeout(resolve, 10))
await workers.dispose()
console.log(JSON.stringify({ ...seen, warnings: logged.join('').match(/HEADGATE_\w+/g) }))
