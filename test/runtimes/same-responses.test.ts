import { describeSameResponses } from './describe-same-responses.js'

describeSameResponses([
  ['workerd', 'durable-objects'],
  ['workerd', 'upstash'],
  ['edge-runtime', 'upstash'],
  ['Deno', 'deno-kv'],
  ['Bun', 'memory'],
])
