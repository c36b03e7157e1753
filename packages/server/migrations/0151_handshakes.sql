-- Handshakes of more providers: the confirmation of a subscription, and questions that come as a POST.

alter table webhooks
  drop constraint webhooks_handshake_check,
  add constraint webhooks_handshake_check check (handshake in (
    'none', 'hub_challenge', 'url_verification', 'sns_subscription', 'discord_ping', 'zoom_validation', 'twitch_challenge'
  ));
