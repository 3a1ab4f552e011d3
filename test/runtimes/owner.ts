import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { memoryStore } from 'headgate'
import { serveOperations } from 'headgate/store'

/** The process that owns the counts. It replies to no message while it hangs. */
export class Owner {
  readonly memory = memoryStore()
  isHanging = false
  /** How many messages with operations have come. */
  operations = 0
  readonly #serve = serveOperations(this.memory)
  readonly #server: Server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    if (req.url === '/operations') this.operations++
    if (this.isHanging) return
    res.end(
      JSON.stringify(
        (await this.#reply(req.url, JSON.parse(String(Buffer.concat(chunks))) as never)) ?? null,
      ),
    )
  })

  #reply(path: string | undefined, message: never): Promise<unknown> | undefined {
    const { documents } = this.memory
    if (path === '/documents/read') return documents?.read(...(message as Parameters<typeof documents.read>))
    if (path === '/documents/replace')
      return documents?.replace(...(message as Parameters<typeof documents.replace>))
    return this.#serve(message)
  }

  async start(): Promise<string> {
    this.#server.keepAliveTimeout = 0 // never: a call on a connection that just closes fails
    const place = { port: 0, host: '127.0.0.1', backlog: 4096 }
    await new Promise<void>((resolve) => this.#server.listen(place, resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
