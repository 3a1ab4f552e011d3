import { describeUpstashIn } from './upstash.js'

describeUpstashIn({ runtimes: ['workerd', 'edge-runtime', 'Deno', 'Bun'], counts: [50] })
