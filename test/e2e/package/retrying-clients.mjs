// Sends a GET with each client that retries by itself, with its default rule. Prints the last status of each.
// Arguments: the folder that has the clients, and the URL.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [, , folder, url] = process.argv
const { resolve } = createRequire(join(folder, 'package.json'))
const load = (name) => import(pathToFileURL(resolve(name)))
const [{ default: got }, { default: ky }, { default: axios }, { default: axiosRetryModule }, undici] =
  await Promise.all(['got', 'ky', 'axios', 'axios-retry', 'undici'].map(load))

const { default: axiosRetry } = axiosRetryModule // it is CommonJS

const CLIENTS = {
  got: async (path) => (await got(path, { throwHttpErrors: false })).statusCode,
  ky: async (path) => (await ky(path).catch(({ response }) => response)).status, // retries what it throws
  async 'axios-retry'(path) {
    const client = axios.create()
    axiosRetry(client, { retryDelay: axiosRetry.exponentialDelay })
    return (await client.get(path).catch(({ response }) => response)).status
  },
  async undici(path) {
    const dispatcher = new undici.RetryAgent(new undici.Agent(), { throwOnError: false })
    return (await undici.request(path, { dispatcher }).catch((error) => error)).statusCode
  },
}

const ended = await Promise.all(
  Object.entries(CLIENTS).map(async ([name, get]) => [name, await get(`${url}/${name}`)]),
)
process.stdout.write(JSON.stringify(Object.fromEntries(ended)))
process.exit()
