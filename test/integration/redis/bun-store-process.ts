import { serveOperations } from 'headgate/store'
import { openStore } from './process-store.js'

interface Question {
  readonly id: number
  readonly message: unknown
}

/** Serves a store over Bun's client to another process. */
async function main(url: string): Promise<void> {
  const { store } = await openStore(url, 'Bun')
  const serve = serveOperations(store)
  process.on('message', async ({ id, message }: Question) => {
    process.send?.({ id, reply: await serve(message) })
  })
  process.send?.('ready')
}

const [url] = process.argv.slice(2)
if (process.send !== undefined && url?.startsWith('redis://')) void main(url)
