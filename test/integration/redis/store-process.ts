import { serveStore } from 'headgate/testing'
import { openStore } from './process-store.js'

// Arguments: the server's address and a driver.
const [url = '', driver = ''] = process.argv.slice(2)

const { store, end } = await openStore(url, driver)
await serveStore(store)
end()
