import { Client, type ClientOptions, type ServerOptions } from 'memjs'

/** What memjs waits for a reply by default. On a busy machine, a healthy server may take longer. */
export const TIMEOUT_OF_MEMJS_S = 0.5

/** Opens clients for one test, which leave all time-outs to the store, and closes them all. */
export function connections() {
  const opened: Client[] = []
  return {
    open(url: string, options: ClientOptions & ServerOptions = {}): Client {
      const client = Client.create(url, { logger: { log: () => undefined }, timeout: 30, ...options })
      opened.push(client)
      return client
    },
    closeAll(): void {
      for (const client of opened.splice(0)) client.close()
    },
  }
}
