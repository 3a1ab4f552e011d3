// A whole application, beside the packages of Nest that it runs on.
import 'reflect-metadata'
import { Controller, Get, Module, Post, Req, UseGuards } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import {
  loginGuard,
  RateLimit,
  type RateLimiters,
  RateLimitGuard,
  RateLimitModule,
  SkipRateLimit,
} from 'headgate/nest'

const window = '1m'

@Controller()
@UseGuards(RateLimitGuard)
class AppController {
  constructor(private readonly limiters: RateLimiters) {}

  @Get()
  @RateLimit({ limit: 5, window })
  hello(@Req() req: { rateLimit?: { remaining: number } }): number | undefined {
    return req.rateLimit?.remaining
  }

  @Post('login')
  @UseGuards(loginGuard({ field: 'username' }))
  login(): string {
    return this.limiters.default?.mode ?? 'off'
  }

  @Get('health')
  @SkipRateLimit()
  health(): string {
    return 'ok'
  }
}

@Module({
  imports: [RateLimitModule.forRootAsync({ useFactory: () => ({ limit: 100, window, global: false }) })],
  controllers: [AppController],
})
class AppModule {}

export async function start(): Promise<void> {
  const app = await NestFactory.create(AppModule)
  app.useGlobalGuards(app.get(RateLimitGuard))
  await app.listen(0)
}
