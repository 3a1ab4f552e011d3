import fastify from 'fastify'
import { rateLimit } from 'headgate/fastify'

/** Returns the statuses of two requests, of which the plugin allows one. */
async function statusesWith(plugin) {
  const app = fastify()
  app.register(plugin, { limit: 1, window: '1h' })
  app.register(async (child) => void child.get('/', () => 'hello'))
  const statuses = []
  for (let i = 0; i < 2; i++) statuses.push((await app.inject('/')).statusCode)
  await app.close()
  return statuses
}

const named = await statusesWith(rateLimit)
console.log(JSON.stringify({ named, module: await statusesWith(import('headgate/fastify')) }))
