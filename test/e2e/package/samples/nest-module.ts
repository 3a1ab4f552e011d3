import { Controller, Get, Module } from '@nestjs/common'
import { RateLimitModule, SkipRateLimit } from 'headgate/nest'

@Controller()
class AppController {
  @Get()
  hello() {
    return 'hello'
  }

  @Get('health')
  @SkipRateLimit()
  health() {
    return 'ok'
  }
}

@Module({
  imports: [RateLimitModule.forRoot({ limit: 5, window: '1h' })],
  controllers: [AppController],
})
export class AppModule {}
