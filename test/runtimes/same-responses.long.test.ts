import { describeSameResponses } from './describe-same-responses.js'

describeSameResponses([
  ['Node.js', 'memory'],
  ['Node.js', 'dynamodb'],
  ['workerd', 'memory'],
  ['workerd', 'durable-objects'],
  ['workerd', 'upstash'],
  ['workerd with nodejs_compat', 'memory'],
  ['workerd with nodejs_compat', 'durable-objects'],
  ['workerd with nodejs_compat', 'upstash'],
  ['edge-runtime', 'memory'],
  ['edge-runtime', 'upstash'],
  ['Deno', 'memory'],
  ['Deno', 'deno-kv'],
  ['Deno', 'upstash'],
  ['Bun', 'memory'],
  ['Bun', 'redis'],
  ['Bun', 'node-redis'],
  ['Bun', 'dynamodb'],
  ['Deno with packages for Node.js', 'redis'],
  ['Deno with packages for Node.js', 'node-redis'],
  ['Deno with packages for Node.js', 'dynamodb'],
])
