import type { AddressInfo } from 'node:net'
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { loginGuard } from 'headgate/fastify'
import { guardOptions, loginStatus, type SiteOf } from './login.js'

const check = ({ body }: FastifyRequest, reply: FastifyReply) => reply.code(loginStatus(body)).send()
const accept = () => 'a form, or a message'

export const fastifySite: SiteOf = {
  name: 'Fastify',
  async start() {
    const app = fastify({ forceCloseConnections: true })
    app.post('/route/login', { preHandler: loginGuard(guardOptions('route')) }, check)
    app.register(async (scope) => {
      scope.addHook('preHandler', loginGuard(guardOptions('prefix')))
      scope.post('/prefix/login', check)
      scope.get('/prefix/login', accept)
      scope.options('/prefix/login', accept)
      scope.post('/prefix/forgot', accept)
    })
    app.all('/all/login', { preHandler: loginGuard(guardOptions('all')) }, check)
    await app.listen({ port: 0, host: '::1' })
    return { port: (app.server.address() as AddressInfo).port, close: () => app.close() }
  },
}
