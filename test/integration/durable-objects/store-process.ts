/** Serves a store to the tests of exactness, whose operations an isolate applies. Argument: its URL. */
import { ownerStore } from 'headgate/store'
import { serveStore } from 'headgate/testing'

const [url = ''] = process.argv.slice(2)

await serveStore(
  ownerStore({
    name: 'isolate',
    timeout: '1m', // as that of the isolate's store: an object writes one charge after the other
    async send(message) {
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(message) })
      return response.json()
    },
  }),
)
