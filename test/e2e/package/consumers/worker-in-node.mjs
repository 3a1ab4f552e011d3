// Sends requests to worker.mjs, bundled, in Node.js, and prints their statuses as JSON.
import worker from './worker-bundled.mjs'

async function statusesOf(...paths) {
  const statuses = []
  for (const path of paths) {
    const request = new Request(`http://localhost${path}`, { headers: { 'cf-connecting-ip': '192.0.2.1' } })
    statuses.push((await worker.fetch(request, {}, { waitUntil() {} })).status)
  }
  return statuses
}

const limited = await statusesOf('/', '/', '/')
const failures = await statusesOf('/failures?status=401', '/failures?status=401', '/failures')
console.log(JSON.stringify({ limited, failures }))
