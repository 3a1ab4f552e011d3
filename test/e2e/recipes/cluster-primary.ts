/**
 * Starts a server in four processes of node:cluster, and sends its parent the port once all of them listen.
 */
import cluster from 'node:cluster'
import { join } from 'node:path'

const [file = ''] = process.argv.slice(2)
let listening = 0

const worker = join(import.meta.dirname, 'cluster-worker.ts')
cluster.setupPrimary({ exec: worker, args: [file], execArgv: ['--import', 'tsx'] })
cluster.on('listening', (_worker, { port }) => {
  listening += 1
  if (listening === 4) process.send?.(port)
})
process.once('SIGTERM', () => {
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL')
  process.exit()
})
for (let i = 0; i < 4; i++) cluster.fork()
