import { Module, UseFilters, UseGuards } from '@nestjs/common'
import { Args, Context, GraphQLModule, Mutation, Query, Resolver } from '@nestjs/graphql'
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius'
import { ConnectedSocket, MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets'
import { byField, byIp, byRoute, type Decision, memoryStore } from 'headgate'
import { RateLimit, RateLimitFilter, RateLimitGuard, RateLimitModule, SkipRateLimit } from 'headgate/nest'

const SCHEMA = `
  type Query { remaining: Int! free: String! }
  type Mutation { login(username: String!): String! }
`

interface Carrier {
  readonly rateLimit?: Decision
}

@Resolver()
class CallsResolver {
  @Query()
  remaining(@Context() { req }: { readonly req: Carrier }): number {
    return req.rateLimit?.remaining ?? -1
  }

  @Query()
  @SkipRateLimit()
  free(): string {
    return 'free'
  }

  @Mutation()
  @RateLimit({ limit: 2, window: '1m', key: byField('username'), count: 'failed' })
  login(@Args('username') username: string): string {
    return `no ${username}`
  }
}

@WebSocketGateway()
@UseGuards(RateLimitGuard)
@UseFilters(RateLimitFilter)
class CallsGateway {
  @SubscribeMessage('remaining')
  remaining(@ConnectedSocket() client: Carrier): unknown {
    return { event: 'remaining', data: client.rateLimit?.remaining }
  }

  @SubscribeMessage('login')
  @RateLimit({ limit: 1, window: '1m', key: byField('username') })
  login(@MessageBody('username') username: string): unknown {
    return { event: 'login', data: username }
  }

  @SubscribeMessage('free')
  @SkipRateLimit()
  free(): unknown {
    return { event: 'free', data: 'free' }
  }
}

/** An application with GraphQL and WebSockets, on Fastify. */
@Module({
  imports: [
    GraphQLModule.forRoot<MercuriusDriverConfig>({ driver: MercuriusDriver, typeDefs: SCHEMA }),
    RateLimitModule.forRoot({
      limit: 2,
      window: '1m',
      store: memoryStore({ clock: () => 0 }),
      key: [byIp(), byRoute()],
      resetFormat: 'delta-seconds',
    }),
  ],
  providers: [CallsResolver, CallsGateway],
})
export class CallsModule {}
