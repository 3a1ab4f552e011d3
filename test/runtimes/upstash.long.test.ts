import { describeUpstashIn } from './upstash.js'

const COUNTS = [300, 1500]

// In the others, requests share batches, so calls that reach the store say little about the circuit breaker.
describeUpstashIn({
  runtimes: ['workerd', 'workerd with nodejs_compat', 'edge-runtime'],
  counts: COUNTS,
  hanging: [50, ...COUNTS],
  timeout: '10s', // 1,500 requests take 4 s in edge-runtime
})
describeUpstashIn({ runtimes: ['Deno', 'Bun'], counts: COUNTS })
