/**
 * Starts a server, given as `cluster-worker.ts` in one file, in four processes of node:cluster, and sends its parent the port once all of them listen.
 */
import cluster from 'node:cluster'

const [worker = '', file = ''] = process.argv.slice(2)
let listening = 0

cluster.setupPrimary({ exec: worker, args: [file] })
cluster.on('listening', (_worker, { port }) => {
  listening += 1
  if (listening === 4) process.send?.(port)
})
process.once('SIGTERM', () => {
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL')
  process.exit()
})
for (let i = 0; i < 4; i++) cluster.fork()
