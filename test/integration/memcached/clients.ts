import { Client, type ClientOptions, type ServerOptions } from 'memjs'

/** Opens clients for one test, and closes them all. */
export function connections() {
  const opened: Client[] = []
  return {
    open(url: string, options: ClientOptions & ServerOptions = {}): Client {
      const client = Client.create(url, { logger: { log: () => undefined }, ...options })
      opened.push(client)
      return client
    },
    closeAll(): void {
      for (const client of opened.splice(0)) client.close()
    },
  }
}
