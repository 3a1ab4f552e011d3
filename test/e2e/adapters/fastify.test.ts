import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import type { Decision } from 'headgate'
import { rateLimitHook } from 'headgate/fastify'
import { limitedAnswer, limitersOf, makeApplication, type Running } from './application.js'
import { adapterCases } from './cases.js'

function onLimited(_request: FastifyRequest, reply: FastifyReply, decision: Decision): FastifyReply {
  const { status, text } = limitedAnswer(decision)
  return reply.code(status).send(text)
}

async function start(): Promise<Running> {
  const application = makeApplication()
  const app = fastify({ forceCloseConnections: true })
  app.decorateRequest('user')
  app.addHook('onRequest', async (request) => {
    Object.assign(request, { user: application.userOf(request) })
  })
  for (const [name, scenario] of application.scenarios) {
    const preValidation = limitersOf(scenario, (options) =>
      rateLimitHook(scenario.isAnsweredByApp ? { ...options, onLimited } : options),
    )
    app.all(`/${name}`, { preValidation }, async (request, reply) => {
      const { status, text } = await application.handle(name, request, request.rateLimit)
      return reply.code(status).send(text)
    })
  }
  await app.ready()
  return application.listen(app.server, () => app.close())
}

adapterCases({ name: 'Fastify 5', start })
