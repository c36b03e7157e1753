-- A handshake that an endpoint describes itself: the question, its proof and the answer. Only the kind custom has one.
alter table webhooks
  add column handshake_form json,
  drop constraint webhooks_handshake_check,
  add constraint webhooks_handshake_check check (
    handshake in (
      'none', 'hub_challenge', 'url_verification', 'sns_subscription', 'discord_ping', 'zoom_validation',
      'twitch_challenge', 'custom'
    )
    and (handshake = 'custom') = (handshake_form is not null)
  );
